import Foundation
import Synchronization

/// What people see while it runs, on standard error: one line that changes at a terminal, a line now and
/// then elsewhere.
final class Display: Sendable {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  /// Nanoseconds between two lines where there is no terminal.
  private let interval: UInt64
  private let last = Mutex<UInt64>(0)

  /// - Parameter interval: Seconds between two lines where there is no terminal.
  init(interval: Double) { self.interval = UInt64(interval * 1e9) }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

  /// Where it stands.
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

  /// Something that stays.
  func line(_ text: String) { write((isTerminal ? "\r\u{1B}[K" : "") + text + "\n") }

  func second(_ moment: Results.Moment, _ rate: Double) {
    update(
      "\(Int(moment.second)) s: \(rate.short)/s wanted, \(moment.finished) finished,"
        + " \(moment.underway) under way, p50 \(moment.p50.short) ms, p99 \(moment.p99.short) ms")
  }

  func clear() { if isTerminal { write("\r\u{1B}[K") } }
}
