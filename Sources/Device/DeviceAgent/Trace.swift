import FamilyModel
import Foundation
import Synchronization
import SystemClock
import ZeroMQ

/// Writes one JSON line for each step of an agent, for tests and for people who watch a cluster.
///
/// A line contains identifiers only: no name, no handle, no text. The wall clock `at` has
/// milliseconds since 1970. The clock `mono` has microseconds since the machine's start. All
/// processes of a machine share that clock, which is never set.
public struct Trace: Sendable {
  private let write: (@Sendable (String) -> Void)?

  /// A trace that passes each line to `write`; `nil` turns the trace off at no cost.
  public init(_ write: (@Sendable (String) -> Void)?) { self.write = write }

  /// A trace on standard output, one line per write.
  public static let standardOutput = Trace { line in
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  func callAsFunction(
    _ step: String, device: DeviceAddress? = nil, question: QuestionID? = nil,
    problem: Problem? = nil, facts: [(String, String)] = []
  ) {
    guard let write else { return }
    let mono = MonotonicInstant.now.nanoseconds / 1_000
    var line = "{\"at\":\(Instant.now.milliseconds),\"mono\":\(mono),\"step\":\"\(step)\""
    if let device {
      line += ",\"family\":\(device.family.rawValue),\"device\":\(device.device.rawValue)"
    }
    if let question { line += ",\"question\":\"\(question.uuid.uuidString)\"" }
    if let problem { line += ",\"problem\":\(problem.code)" }
    for (name, value) in facts { line += ",\"\(name)\":\(value)" }
    write(line + "}")
  }
}
