public import FamilyModel
public import Foundation
import Synchronization
import SystemClock

/// Tells what an agent does, a JSON line for each step: for people who watch a cluster, and for tests.
///
/// It holds identifiers only: no name, no handle, no text.
public struct Trace: Sendable {
  private let write: (@Sendable (String) -> Void)?

  /// A trace that gives each line to `write`; `nil`: nobody reads it, and it costs nothing.
  public init(_ write: (@Sendable (String) -> Void)?) { self.write = write }

  /// A trace on standard output, a line at a time.
  public static let standardOutput = Trace { line in
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  func callAsFunction(
    _ step: String, device: DeviceAddress? = nil, question: QuestionID? = nil,
    problem: Problem? = nil, facts: [(String, String)] = []
  ) {
    guard let write else { return }
    var line = "{\"at\":\(Instant.now.milliseconds),\"step\":\"\(step)\""
    if let device {
      line += ",\"family\":\(device.family.rawValue),\"device\":\(device.device.rawValue)"
    }
    if let question { line += ",\"question\":\"\(question.uuid.uuidString)\"" }
    if let problem { line += ",\"problem\":\(problem.code)" }
    for (name, value) in facts { line += ",\"\(name)\":\(value)" }
    write(line + "}")
  }
}
