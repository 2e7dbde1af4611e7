import Foundation

/// Reads the passcode from standard input, because other users of the machine can read arguments.
enum PasscodeEntry {
  /// Control-C. As a signal, it would end the process without restoring the terminal's echo.
  private static let interrupt: UInt8 = 3

  /// Reads the passcode twice without echo in a terminal, and otherwise one line.
  ///
  /// - Throws: `ControlError` if the input ends, Control-C is typed or the passcodes differ.
  static func read() throws -> String {
    guard isatty(STDIN_FILENO) == 1 else {
      guard let line = readLine() else {
        throw ControlError(
          "Standard input contains no passcode. Send one line, or run the command in a terminal.")
      }
      return line
    }
    let first = try ask("New passcode: ")
    guard try ask("Repeat the passcode: ") == first else {
      throw ControlError("The passcodes differ. Nothing was changed.")
    }
    return first
  }

  private static func ask(_ prompt: String) throws -> String {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else {
      throw ControlError("Cannot read the terminal's settings. Nothing was changed.")
    }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
    // Without signals, Control-C would be buffered until the end of the line, so make it one.
    withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VEOL)] = interrupt }
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else {
      throw ControlError("Cannot turn off the terminal's echo. Nothing was changed.")
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
        throw ControlError("Cancelled. Nothing was changed.")
      }
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
  }
}
