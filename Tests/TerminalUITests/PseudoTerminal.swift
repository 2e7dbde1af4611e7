import Foundation
import Synchronization

/// A program in a new pseudoterminal, and its output.
final class PseudoTerminal: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// TIOCSPTLCK and TIOCGPTN.
  private static let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

  let name: String
  let columns: Int
  private let main: Int32
  private let process = Process()
  private let output = Mutex<[UInt8]>([])

  init(
    _ program: String, _ arguments: [String], columns: Int, environment: [String: String] = [:]
  ) throws {
    name = program
    self.columns = columns
    main = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    // The work of unlockpt and ptsname, which this module map does not export.
    var (unlocked, number) = (Int32(0), UInt32(0))
    guard main >= 0, ioctl(main, Self.unlock, &unlocked) == 0,
      ioctl(main, Self.number, &number) == 0
    else { throw Failure(description: "no pseudo-terminal") }
    var size = winsize(
      ws_row: 40, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(main, UInt(TIOCSWINSZ), &size)
    let side = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    let handle = FileHandle(fileDescriptor: side, closeOnDealloc: true)
    process.executableURL = URL(fileURLWithPath: Programs.path(program))
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["LC_ALL": "en_US.UTF-8", "TERM": "xterm", "NO_COLOR": "1"]
    ) { $1 }.merging(environment) { $1 }
    process.standardInput = handle
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    Thread { [self] in
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = read(main, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        output.withLock { $0 += buffer[..<count] }
      }
    }.start()
  }

  /// The complete output with escape sequences.
  var raw: String { String(decoding: output.withLock { $0 }, as: UTF8.self) }

  /// All lines that the screen showed at any time, without escape sequences.
  var lines: [String] {
    raw.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "\n").split {
      "\r\n".contains($0) || $0 == "\r\n"
    }
    .map(String.init)
  }

  /// The text without frames and line breaks.
  var text: String {
    lines.joined(separator: " ").filter { !"│┃╭╮╰╯━─┏┓┗┛".contains($0) }
      .split(separator: " ").joined(separator: " ")
  }

  func type(_ line: String) {
    var bytes = Array((line + "\n").utf8)
    while !bytes.isEmpty {
      let count = write(main, bytes, bytes.count)
      guard count > 0 else { return }
      bytes.removeFirst(count)
    }
  }

  /// Waits until the text has appeared `count` times.
  func wait(for expected: String, times count: Int = 1, seconds: Double = 120) async throws {
    let end = Date().addingTimeInterval(seconds)
    while text.ranges(of: expected).count < count {
      guard Date() < end else {
        throw Failure(
          description: "\(name) does not show “\(expected)”:\n\(lines.joined(separator: "\n"))")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Waits for the bubble of another question.
  ///
  /// - Parameter count: Which question, from 1 in order of appearance.
  /// - Returns: The question's number.
  func number(ofQuestion count: Int = 1) async throws -> String {
    for _ in 0..<6_000 {
      var numbers: [String] = []
      for match in text.matches(of: /\[r([0-9]+)\]/) where !numbers.contains(String(match.1)) {
        numbers.append(String(match.1))
      }
      if numbers.count >= count { return numbers[count - 1] }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw Failure(description: "\(name) shows no question:\n\(lines.joined(separator: "\n"))")
  }

  /// Whether the terminal itself echoes input.
  var echoes: Bool {
    var mode = termios()
    tcgetattr(main, &mode)
    return mode.c_lflag & tcflag_t(ECHO) != 0
  }

  var isRunning: Bool { process.isRunning }

  /// Terminates the program and waits for its end.
  @discardableResult
  func stop() -> Int32 {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// The programs in the test bundle's folder.
enum Programs {
  static func path(_ name: String) -> String {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent(name).path
  }

  static func start(
    _ name: String, _ arguments: [String], environment: [String: String] = [:], log: URL
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path(name))
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    try Data().write(to: log)
    let file = try FileHandle(forWritingTo: log)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = file
    process.standardError = file
    try process.run()
    return process
  }
}
