package import Foundation
import Synchronization

/// The terminal: reads lines, echoes them unless they are hidden, and keeps the line that is being typed
/// below everything that is shown meanwhile.
package final class Console: Sendable {
  /// What comes from the keyboard.
  enum Input: Hashable, Sendable {
    case line(String)
    /// There will be no more.
    case end
  }
  private struct State {
    var editor = LineEditor()
    var label = ""
    var isHidden = false
    /// Whether the label stands on the last row.
    var isDrawn = false
    var isStopped = false
  }
  private let state = Mutex(State())
  /// The reader waits here after each line: what the next one is, and whether it is hidden, depends on
  /// what comes of the one before.
  private let taken = DispatchSemaphore(value: 0)
  /// Whether a person sits there: the line can be drawn again.
  let isInteractive: Bool
  let hasColours: Bool

  package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    isInteractive = isTerminal && isatty(STDIN_FILENO) == 1
    hasColours =
      isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  /// The terminal's width less one column, so that no row touches the edge; 79 where that is unknown.
  var columns: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 79 }
    return Int(size.ws_col) - 1
  }

  // MARK: output

  /// Shows the rows above the line that is being typed; `replacing`: over the row above it.
  func show(_ rows: [Row], replacing: Bool = false) {
    guard !rows.isEmpty else { return }
    state.withLock { state in
      var text = erased(&state)
      if replacing, isInteractive { text += "\u{1B}[1A\r\u{1B}[K" }
      text += rows.map { $0.rendered(colours: hasColours) + "\n" }.joined()
      write(text + drawn(&state))
    }
  }

  /// What stands before the cursor from now on, and whether what is typed can be seen.
  func prompt(_ label: String, hidden: Bool) {
    // Another process may have had the terminal meanwhile.
    if isInteractive { TerminalMode.enter() }
    state.withLock { state in
      guard label != state.label || hidden != state.isHidden || !state.isDrawn else { return }
      let text = erased(&state)
      (state.label, state.isHidden) = (label, hidden)
      write(text + drawn(&state))
    }
  }

  /// The line was taken: the next one can come.
  func proceed() { taken.signal() }

  /// Takes what is typed away, or gives it back.
  func draft() -> String { state.withLock { $0.editor.take() } }
  func restore(_ draft: String) {
    state.withLock { state in
      state.editor.put(draft)
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
    let label = state.label.shown.shortened(room)
    // Of what does not fit, the end is seen while it is typed, and then the beginning.
    let typed =
      state.isHidden
      ? ""
      : line?.shown.shortened(columns - label.cells)
        ?? String(state.editor.text.shown.tail(columns - label.cells))
    return Row(label, .key).rendered(colours: hasColours) + typed
  }

  private func write(_ text: String) {
    guard !text.isEmpty else { return }
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  // MARK: input

  /// Reads on a thread of its own until the end of the input.
  func start(_ receive: @escaping @Sendable (Input) -> Void) {
    if isInteractive { TerminalMode.enter() }
    Thread { [self] in
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return receive(.end) }
        for byte in buffer[..<count] { take(byte, receive) }
      }
    }.start()
  }

  private func take(_ byte: UInt8, _ receive: (Input) -> Void) {
    let event = state.withLock { state -> LineEditor.Event? in
      guard let event = state.editor.take(byte) else { return nil }
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
      taken.wait()
    case .end: receive(.end)
    case .changed, nil: break
    }
  }

  /// Gives the terminal back.
  func stop() {
    state.withLock { state in
      let text = erased(&state)
      state.isStopped = true
      write(text)
    }
    TerminalMode.leave()
  }
}
