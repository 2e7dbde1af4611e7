import Foundation
import Synchronization

/// The progress on standard error: one updated line on a terminal, periodic lines elsewhere.
final class Display: Sendable {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  /// Nanoseconds between two lines where there is no terminal.
  private let interval: UInt64
  private let last = Mutex<UInt64>(0)

  /// - Parameter interval: Seconds between two lines where there is no terminal.
  init(interval: Double) { self.interval = UInt64(interval * 1e9) }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

  /// Updates the progress line, at most ten times a second on a terminal.
  func update(_ text: String) {
    let now = DispatchTime.now().uptimeNanoseconds
    let isDue = last.withLock { last in
      guard now >= last + (isTerminal ? 100_000_000 : interval) else { return false }
      last = now
      return true
    }
    guard isDue else { return }
    write(isTerminal ? "\r\u{1B}[K\(text)" : "\(text)\n")
  }

  /// Prints a permanent line.
  func line(_ text: String) { write((isTerminal ? "\r\u{1B}[K" : "") + text + "\n") }

  func showProgress(_ moment: Results.Moment, _ rate: Double) {
    update(
      "\(Int(moment.second)) s: \(rate.short)/s offered, \(moment.finished) finished,"
        + " \(moment.underway) in flight, p50 \(moment.p50.short) ms, p99 \(moment.p99.short) ms")
  }

  func clear() { if isTerminal { write("\r\u{1B}[K") } }
}
