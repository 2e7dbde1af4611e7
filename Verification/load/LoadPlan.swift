import FamilyModel
import Foundation
import ZeroMQ

/// The planned course of a question.
enum Kind: String, CaseIterable, Codable, Sendable {
  /// A guardian reviews and approves.
  case approve
  /// A guardian declines from the bubble.
  case decline
  /// The question has its own choices, and a guardian picks one.
  case choice
  /// The app asks twice, and the child asks about the same person again.
  case duplicate
  /// Both guardians answer at once with different choices.
  case race
  /// The child's or the guardians' devices are offline for a while.
  case off
  /// The app is not running when the answer arrives and is launched.
  case asleep
}

/// The weights of the question kinds.
struct Mix: Codable, Sendable {
  static let standard = "approve=55,decline=15,choice=10,race=10,duplicate=4,asleep=5,off=1"
  private(set) var weights: [(kind: Kind, weight: UInt64)]
  private var total: UInt64 { weights.reduce(0) { $0 + $1.weight } }

  /// Parses `approve=80,decline=20`; `nil` for anything else or a total of zero.
  init?(_ text: String) {
    weights = []
    for part in text.split(separator: ",") {
      let pair = part.split(separator: "=")
      guard pair.count == 2, let kind = Kind(rawValue: String(pair[0])),
        let weight = UInt64(pair[1]), weight <= 1_000_000
      else { return nil }
      weights.append((kind, weight))
    }
    guard total > 0 else { return nil }
  }

  func kind(_ random: UInt64) -> Kind {
    var remainder = random % total
    for (kind, weight) in weights {
      if remainder < weight { return kind }
      remainder -= weight
    }
    return .approve
  }

  var text: String { weights.map { "\($0.kind.rawValue)=\($0.weight)" }.joined(separator: ",") }

  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let mix = Mix(text) else { throw CocoaError(.coderInvalidValue) }
    self = mix
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// A planned question.
struct Arrival: Hashable, Sendable {
  /// Unique in the run and independent of the number of workers.
  var number: UInt64
  /// The time after the start.
  var at: Nanoseconds
  /// The family, from 1.
  var family: UInt64
  var kind: Kind
  /// The source of all further random choices of this question.
  var random: UInt64
}

/// The arrivals of a run, fixed by the seed (an open loop): delays of the system do not move them.
///
/// They form a Poisson process, the model of independent people.
struct LoadPlan: Sequence, IteratorProtocol, Sendable {
  private let rate: Double
  private let end: Double
  private let families: UInt64
  private let mix: Mix
  private var random: IDSource
  private var seconds = 0.0
  private var number: UInt64

  /// - Parameters:
  ///   - rate: The mean number of arrivals per second.
  ///   - seconds: The duration.
  ///   - first: The number of the first arrival.
  init(
    seed: UInt64, rate: Double, seconds: Double, families: UInt64, mix: Mix, first: UInt64 = 0
  ) {
    self.rate = rate
    end = seconds
    self.families = families
    self.mix = mix
    random = IDSource(seed: seed &+ first)
    number = first
  }

  mutating func next() -> Arrival? {
    // 53 bits: (0, 1].
    let uniform = Double(random.next() >> 11 + 1) / 9_007_199_254_740_992
    seconds -= log(uniform) / rate
    guard seconds < end else { return nil }
    defer { number += 1 }
    return Arrival(
      number: number, at: .seconds(seconds), family: random.next() % families + 1,
      kind: mix.kind(random.next()), random: random.next())
  }
}
