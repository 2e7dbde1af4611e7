import Foundation
import Synchronization

/// The terminal's input mode: while an agent runs, the kernel neither echoes nor edits lines.
enum TerminalMode {
  /// The mode before ``enter()``; `nil` outside an agent's session.
  private static let before = Mutex<termios?>(nil)

  /// Turns off echo and line editing, until ``leave()`` or the end of the process.
  static func enter() {
    var mode = termios()
    guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return }
    let isFirst = before.withLock { before in
      defer { before = before ?? mode }
      return before == nil
    }
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    // A host that fails ends the process without calling `leave()`.
    if isFirst { atexit { TerminalMode.leave() } }
  }

  /// Restores the earlier mode.
  static func leave() {
    before.withLock { before in
      guard var mode = before else { return }
      tcsetattr(STDIN_FILENO, TCSANOW, &mode)
      before = nil
    }
  }
}
