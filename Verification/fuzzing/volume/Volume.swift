public import ArgumentParser
import FamilyModel
import Foundation
public import FuzzTargets

/// Runs many mutations of a corpus without measuring what they reach, several times as fast as
/// libFuzzer.
///
/// An input depends on the seed and its number only. After a trap, `--from` with the last number that
/// was printed finds the input again.
@main
struct Volume: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz-volume",
    abstract: "Run many mutations of a corpus against a fuzz target.",
    discussion: "A violated invariant ends the process with a trap. Repeat with --from and --each.")

  @Option(help: "The fuzz target.") var target: FuzzTarget = .acts
  @Option(help: "The number of inputs.") var runs = 1_000_000
  @Option(help: "The number of the first input.") var from = 0
  @Option(help: "The seed of the mutations.") var seed: UInt64 = 1
  @Option(help: "The corpus: one input per line, in base64.")
  var corpus = "Verification/fuzzing/corpus/acts.txt"
  @Option(help: "The longest input in bytes.") var length = 400
  @Flag(help: "Print the number of each input before it runs.") var each = false

  func validate() throws {
    guard runs > 0, from >= 0, length > 0 else {
      throw ValidationError("--runs and --length are at least 1, and --from is at least 0.")
    }
  }

  func run() throws {
    let lines = try String(contentsOfFile: corpus, encoding: .utf8).split(separator: "\n")
    let inputs = lines.compactMap { Data(base64Encoded: String($0)).map { [UInt8]($0) } }
    guard !inputs.isEmpty else { throw ValidationError("\(corpus) has no input.") }
    let start = ContinuousClock.now
    let step = max(1, runs / 100)
    for number in from..<from + runs {
      if each || (number - from).isMultiple(of: step) {
        // Written at once, because a trap loses what is buffered.
        FileHandle.standardOutput.write(Data("input \(number)\n".utf8))
      }
      let input = Mutation(seed: seed, number: number).apply(to: inputs, length: length)
      input.withUnsafeBytes { target.run($0) }
    }
    let seconds = Double((ContinuousClock.now - start) / .milliseconds(1)) / 1_000
    print(
      "\(runs) inputs in \(Int(seconds)) s, \(Int(Double(runs) / max(seconds, 0.001))) a second")
  }
}

extension FuzzTarget: ExpressibleByArgument {}

/// The changes that make one input from a corpus.
struct Mutation {
  private var numbers: IDSource

  init(seed: UInt64, number: Int) {
    numbers = IDSource(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(number))
  }

  private mutating func below(_ bound: Int) -> Int { Int(numbers.next() % UInt64(max(bound, 1))) }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
  }

  /// A changed input of the corpus, or one of random bytes.
  func apply(to corpus: [[UInt8]], length: Int) -> [UInt8] {
    var copy = self
    return copy.make(corpus, length)
  }

  private mutating func make(_ corpus: [[UInt8]], _ length: Int) -> [UInt8] {
    if below(16) == 0 { return bytes(below(length)) }
    var input = corpus[below(corpus.count)]
    for _ in 0...below(4) {
      let place = below(input.count + 1)
      switch below(5) {
      case 0 where place < input.count: input[place] ^= 1 << UInt8(below(8))
      case 1 where place < input.count: input[place] = UInt8(below(256))
      case 2: input.insert(contentsOf: bytes(1 + below(8)), at: place)
      case 3: input.removeSubrange(place..<min(input.count, place + 1 + below(16)))
      default:
        // The beginning of one input, and the end of another.
        let other = corpus[below(corpus.count)]
        input = Array(input.prefix(place)) + other.suffix(below(other.count + 1))
      }
    }
    return Array(input.prefix(length))
  }
}
