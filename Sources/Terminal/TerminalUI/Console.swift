import Foundation
import Synchronization

/// The terminal's input and output. The line being typed stays below all output.
///
/// Lines are echoed unless they are hidden.
package final class Console: Sendable {
  /// One input from the keyboard.
  enum Input: Hashable, Sendable {
    case line(String)
    /// The end of the input.
    case end
  }
  private struct State {
    var editor = LineEditor()
    var label = ""
    var isHidden = false
    /// Whether the last row shows the label and the draft.
    var isDrawn = false
    var isStopped = false
  }
  private let state = Mutex(State())
  /// Blocks the reader after each line until the session has processed it, because the result
  /// decides whether the next line is hidden.
  private let lineProcessed = DispatchSemaphore(value: 0)
  /// Whether input and output are a terminal, so that the line can be redrawn.
  let isInteractive: Bool
  let hasColours: Bool

  package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    isInteractive = isTerminal && isatty(STDIN_FILENO) == 1
    hasColours =
      isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  /// The terminal's width less one column, so that no row touches the edge; 79 if it is unknown.
  var columns: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 79 }
    return Int(size.ws_col) - 1
  }

  // MARK: output

  /// Shows rows above the line being typed.
  ///
  /// - Parameter replacing: Whether the first row replaces the last one shown.
  func show(_ rows: [Row], replacing: Bool = false) {
    guard !rows.isEmpty else { return }
    state.withLock { state in
      var text = erased(&state)
      if replacing, isInteractive { text += "\u{1B}[1A\r\u{1B}[K" }
      text += rows.map { $0.rendered(colours: hasColours) + "\n" }.joined()
      write(text + drawn(&state))
    }
  }

  /// Sets the label before the cursor, and whether the input is hidden.
  func prompt(_ label: String, hidden: Bool) {
    // Another process may have changed the terminal's mode in the meantime.
    if isInteractive { TerminalMode.enter() }
    state.withLock { state in
      guard label != state.label || hidden != state.isHidden || !state.isDrawn else { return }
      let text = erased(&state)
      (state.label, state.isHidden) = (label, hidden)
      write(text + drawn(&state))
    }
  }

  /// Lets the reader continue after the session has processed a line.
  func resumeReading() { lineProcessed.signal() }

  /// Removes the unfinished line, to restore it after a dialog.
  func removeDraft() -> String { state.withLock { $0.editor.clear() } }

  /// Puts an unfinished line back before the text typed since.
  func restore(_ draft: String) {
    state.withLock { state in
      state.editor.prepend(draft)
      let text = erased(&state)
      write(text + drawn(&state))
    }
  }

  private func erased(_ state: inout State) -> String {
    guard state.isDrawn else { return "" }
    state.isDrawn = false
    return isInteractive ? "\r\u{1B}[K" : "\n"
  }

  private func drawn(_ state: inout State, line: String? = nil) -> String {
    guard !state.isStopped, !state.label.isEmpty else { return "" }
    state.isDrawn = true
    let room = state.isHidden ? columns : max(10, columns * 2 / 3)
    let label = state.label.displaySafe.shortened(room)
    // A line that does not fit shows its end while it is edited, and its start when it is complete.
    let typed =
      state.isHidden
      ? ""
      : line?.displaySafe.shortened(columns - label.cells)
        ?? String(state.editor.text.displaySafe.tail(columns - label.cells))
    return Row(label, .key).rendered(colours: hasColours) + typed
  }

  private func write(_ text: String) {
    guard !text.isEmpty else { return }
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  // MARK: input

  /// Reads on its own thread until the end of the input.
  func start(_ receive: @escaping @Sendable (Input) -> Void) {
    if isInteractive { TerminalMode.enter() }
    Thread { [self] in
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return receive(.end) }
        for byte in buffer[..<count] { process(byte, receive) }
      }
    }.start()
  }

  private func process(_ byte: UInt8, _ receive: (Input) -> Void) {
    let event = state.withLock { state -> LineEditor.Event? in
      guard let event = state.editor.process(byte) else { return nil }
      if case .line(let line) = event {
        if isInteractive {
          let text = erased(&state)
          write(text + drawn(&state, line: line) + "\n")
        }
        state.isDrawn = false
      } else if isInteractive, !state.isHidden {
        let text = erased(&state)
        write(text + drawn(&state))
      }
      return event
    }
    switch event {
    case .line(let line):
      receive(.line(line))
      lineProcessed.wait()
    case .end: receive(.end)
    case .changed, nil: break
    }
  }

  /// Erases the input line and restores the terminal's mode.
  func stop() {
    state.withLock { state in
      let text = erased(&state)
      state.isStopped = true
      write(text)
    }
    TerminalMode.leave()
  }
}
