import Foundation

/// Reads the passcode from who types it. It is never an argument: others see those.
enum PasscodeEntry {
  /// Control-C, which ends the entry: the terminal must get its echo back.
  private static let interrupt: UInt8 = 3

  /// Typed twice at a terminal, without echo; else one line of the standard input.
  static func read() throws -> String {
    guard isatty(STDIN_FILENO) == 1 else {
      guard let line = readLine() else {
        throw ControlError("The passcode is read from the standard input, and nothing came.")
      }
      return line
    }
    let first = try ask("New passcode: ")
    guard try ask("Again: ") == first else {
      throw ControlError("The two are not the same. Nothing was changed.")
    }
    return first
  }

  private static func ask(_ prompt: String) throws -> String {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else {
      throw ControlError("The terminal does not say how it is set. Nothing was changed.")
    }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
    // Without signals a Control-C would wait for the end of the line: it is one.
    withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VEOL)] = interrupt }
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else {
      throw ControlError("The terminal does not stop showing what is typed. Nothing was changed.")
    }
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
    FileHandle.standardError.write(Data(prompt.utf8))
    let line = try line()
    FileHandle.standardError.write(Data("\n".utf8))
    return line
  }

  private static func line() throws -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = Foundation.read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1, byte != interrupt else {
        throw ControlError("Nothing was changed.")
      }
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
  }
}
