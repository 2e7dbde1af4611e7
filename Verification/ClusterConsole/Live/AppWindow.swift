import Foundation
import GatewayModel
import Synchronization

/// The window of the example app on a child's device: a process that prints its screen and reads the
/// person's taps, one JSON object a line.
final class AppWindow: Sendable {
  private struct State {
    var process: Process?
    var input: FileHandle?
    var rest = Data()
  }
  /// The longest line of the app in bytes. A longer one ends the window.
  static let lineBytes = 1 << 20

  private let program: String
  private let credential: String
  private let received: @Sendable (JSONValue) -> Void
  private let ended: @Sendable () -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - credential: The app's credential file on the device.
  ///   - received: Called with each line.
  ///   - ended: Called after the end of the process.
  init(
    program: String, credential: String, received: @escaping @Sendable (JSONValue) -> Void,
    ended: @escaping @Sendable () -> Void
  ) {
    self.program = program
    self.credential = credential
    self.received = received
    self.ended = ended
  }

  /// The window's process; `nil` while it is closed.
  var pid: pid_t? { state.withLock { $0.process?.processIdentifier } }

  /// Starts the process, unless it runs.
  func open() throws {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["window"]
    process.environment = ProcessInfo.processInfo.environment
      .merging(["PERMISSION_RELAY_DEVICE": credential]) { $1 }
    process.standardInput = input
    process.standardOutput = output
    let reading = output.fileHandleForReading
    reading.readabilityHandler = { [weak self] handle in
      let bytes = handle.availableData
      if bytes.isEmpty { handle.readabilityHandler = nil } else { self?.read(bytes) }
    }
    process.terminationHandler = { [weak self] _ in self?.end() }
    try state.withLock { state in
      guard state.process == nil else { return }
      try process.run()
      state = State(process: process, input: input.fileHandleForWriting)
    }
  }

  /// Sends a tap.
  ///
  /// - Returns: Whether the window is open.
  func send(_ act: JSONValue) -> Bool {
    state.withLock { state in
      guard let input = state.input else { return false }
      return (try? input.write(contentsOf: act.data + Data("\n".utf8))) != nil
    }
  }

  /// Ends the process, as a person who leaves the app.
  func close() { state.withLock { $0.process?.terminate() } }

  private func end() {
    state.withLock { $0 = State() }
    ended()
  }

  private func read(_ bytes: Data) {
    let lines = state.withLock { state -> [Data] in
      var lines = (state.rest + bytes).split(
        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      state.rest = Data(lines.removeLast())
      if state.rest.count > Self.lineBytes { state.process?.terminate() }
      return lines.map { Data($0) }
    }
    for line in lines { if let value = try? JSONValue.parse(line) { received(value) } }
  }
}
