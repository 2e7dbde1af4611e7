import Foundation
import Synchronization

/// How the terminal treats the keyboard: while an agent has it, it neither echoes nor edits.
enum TerminalMode {
  /// As it was before.
  private static let before = Mutex<termios?>(nil)

  /// Takes the terminal, until ``leave()`` or the end of the process.
  static func enter() {
    var mode = termios()
    guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return }
    let isFirst = before.withLock { before in
      defer { before = before ?? mode }
      return before == nil
    }
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    // A host that stops at a failure ends the process without any farewell.
    if isFirst { atexit { TerminalMode.leave() } }
  }

  /// Gives the terminal back as it was.
  static func leave() {
    before.withLock { before in
      guard var mode = before else { return }
      tcsetattr(STDIN_FILENO, TCSANOW, &mode)
      before = nil
    }
  }
}
