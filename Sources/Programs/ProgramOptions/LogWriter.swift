import Dispatch
import Glibc
import Synchronization

/// Writes lines to a file descriptor on a thread of its own, in order.
///
/// A reader that stalls never stops the process: lines wait up to ``maximumBytes``, and further ones
/// are dropped. A line that states their number takes their place.
final class LogWriter: Sendable {
  /// The largest sum of bytes that wait.
  static let maximumBytes = 1 << 20
  /// The longest time that the end of the process waits for its last lines.
  static let patience = DispatchTimeInterval.seconds(1)

  /// The writer of the process's standard error. The end of the process waits for its lines.
  static let standardError: LogWriter = {
    let writer = LogWriter(descriptor: STDERR_FILENO)
    atexit { LogWriter.standardError.flush() }
    return writer
  }()

  private struct Waiting {
    var bytes: [UInt8] = []
    var dropped = 0
    var isScheduled = false
  }

  private let descriptor: Int32
  private let waiting = Mutex(Waiting())
  private let queue = DispatchQueue(label: "log")

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Enqueues a line. Returns at once.
  func write(_ line: String) {
    let mustSchedule = waiting.withLock { waiting in
      guard waiting.bytes.count + line.utf8.count < Self.maximumBytes else {
        waiting.dropped += 1
        return false
      }
      waiting.bytes += line.utf8
      waiting.bytes.append(UInt8(ascii: "\n"))
      defer { waiting.isScheduled = true }
      return !waiting.isScheduled
    }
    if mustSchedule { queue.async { self.writeWaiting() } }
  }

  /// Waits until all lines are written, at most for ``patience``.
  func flush() {
    let written = DispatchSemaphore(value: 0)
    queue.async { written.signal() }
    _ = written.wait(timeout: .now() + Self.patience)
  }

  private func writeWaiting() {
    while let bytes = next() {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) }
        // A reader that is gone changes nothing.
        if count < 0, errno != EINTR, errno != EAGAIN { break }
      }
    }
  }

  private func next() -> [UInt8]? {
    waiting.withLock { waiting in
      var bytes: [UInt8] = []
      swap(&bytes, &waiting.bytes)
      if waiting.dropped > 0 {
        bytes += "\(waiting.dropped) lines of the log were dropped: the reader was too slow.\n".utf8
        waiting.dropped = 0
      }
      waiting.isScheduled = !bytes.isEmpty
      return bytes.isEmpty ? nil : bytes
    }
  }
}
