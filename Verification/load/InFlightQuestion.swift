import FamilyModel
import ZeroMQ

/// A question from its planned time until the app has handled the answer and every device shows the
/// decision.
struct InFlightQuestion {
  let kind: Kind
  /// The planned time. Every latency begins here, so that a stall
  /// counts against each question that it delays.
  let scheduled: MonotonicInstant
  let family: FamilyID
  /// Whether the question is measured. The second question of a duplicate is no arrival and is not.
  var isMeasured = true
  /// Whether a device of the family was offline meanwhile.
  var wasOffline = false
  /// The number of guardians' devices that showed the bubble.
  var answers = 0
  /// The number of `sent` outcomes that the app received.
  var timesSent = 0
  /// The number of devices that show the decision.
  var shown = 0
  var isHandled = false
}

/// A measured latency of a question.
enum Measure: String, CaseIterable, Codable, Sendable {
  /// From the planned time until the generator asks.
  case lag
  /// From the planned time until the relay has committed the question.
  case asked
  /// From a guardian's answer until the relay has committed the answer.
  case answered
  /// From the planned time until the app has handled the answer.
  case approval
  /// As `approval`, for families with a device offline meanwhile.
  case heldUp
}

/// One measured latency.
struct Sample: Sendable {
  var measure: Measure
  var kind: Kind
  /// Microseconds.
  var value: UInt64
}

/// The question of an arrival.
enum LoadQuestion {
  /// The bit that marks the second question of a duplicate.
  static let again: UInt64 = 1 << 63

  static let choices = [
    Choice(id: "hour", title: "One hour", answer: .approval),
    Choice(id: "day", title: "All day", answer: .approval),
    Choice(id: "no", title: "No", answer: .denial),
  ]

  static func id(_ number: UInt64) -> QuestionID { ID128(high: 0x6C6F_6164, low: number) }

  static func make(_ arrival: Arrival) -> Question {
    let id = id(arrival.number)
    var name = NameParts()
    name.given = "Person \(arrival.number)"
    let handle = Handle("person-\(arrival.number)", .custom)
    let topic = Topic.communication(
      people: [Subject(handle: handle, name: name)], actions: [.message])
    guard arrival.kind == .choice else { return Question(id: id, topic: topic) }
    return Question(id: id, topic: topic, choices: choices, defaultChoice: choices[2])
  }

  /// The answer of the `index`-th guardian who sees the bubble; `nil` for no answer.
  static func answer(_ kind: Kind, _ index: Int) -> (choice: String, reviewed: Bool)? {
    switch (kind, index) {
    case (.race, 1): ("decline", false)
    case (_, 1...): nil
    case (.decline, _): ("decline", false)
    case (.choice, _): ("day", true)
    default: ("approve", true)
    }
  }

  /// The choices that the app may receive for a question of this kind.
  static func right(_ kind: Kind) -> Set<String> {
    switch kind {
    case .race: ["approve", "decline"]
    case .decline: ["decline"]
    case .choice: ["day"]
    default: ["approve"]
    }
  }
}
