import Dispatch
import Glibc
import Synchronization

/// Writes lines to a file descriptor on a thread of its own, in order. Lines of a trace are written at once
/// while their pipe has room, so that a process that is killed has written them.
///
/// A reader that stalls never stops the process: lines wait up to ``maximumBytes``, and further ones
/// are dropped. A line that states their number takes their place.
package final class LogWriter: Sendable {
  /// The largest sum of bytes that wait.
  static let maximumBytes = 1 << 20
  /// The longest time that the end of the process waits for its last lines.
  static let patience = DispatchTimeInterval.seconds(1)

  /// The writer of the process's standard error. The end of the process waits for its lines.
  static let standardError: LogWriter = {
    atexit { LogWriter.standardError.flush() }
    return LogWriter(ofProcess: STDERR_FILENO)
  }()

  /// The writer of a trace on the process's standard output. The end of the process waits for its lines.
  package static let standardOutput: LogWriter = {
    atexit { LogWriter.standardOutput.flush() }
    return LogWriter(ofProcess: STDOUT_FILENO, writesAtOnce: true)
  }()

  private struct Waiting {
    var bytes: [UInt8] = []
    var dropped = 0
    /// The form of the newest line.
    var format = LogOptions.Format.text
    var isScheduled = false
  }

  private let descriptor: Int32
  /// Whether a line is written by its caller if that takes no time.
  private let writesAtOnce: Bool
  private let waiting = Mutex(Waiting())
  private let queue = DispatchQueue(label: "log")

  init(descriptor: Int32, writesAtOnce: Bool = false) {
    self.descriptor = descriptor
    // On a terminal or a socket, room for one byte does not mean room for a line.
    var file = stat()
    let isPipe = fstat(descriptor, &file) == 0 && file.st_mode & S_IFMT == S_IFIFO
    self.writesAtOnce = writesAtOnce && isPipe
  }

  private convenience init(ofProcess descriptor: Int32, writesAtOnce: Bool = false) {
    // A reader that is gone must not end the process.
    signal(SIGPIPE, SIG_IGN)
    self.init(descriptor: descriptor, writesAtOnce: writesAtOnce)
  }

  /// Enqueues a line. Returns at once.
  ///
  /// - Parameter format: The form of the line, and of the one that states a number of dropped lines.
  package func write(_ line: String, format: LogOptions.Format = .text) {
    let mustSchedule = waiting.withLock { waiting in
      waiting.format = format
      if writesAtOnce, !waiting.isScheduled, isWritten(line) { return false }
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

  /// Writes the line if the pipe has room for it, which then takes it as a whole.
  private func isWritten(_ line: String) -> Bool {
    let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard bytes.count <= Int(PIPE_BUF), poll(&room, 1, 0) == 1, room.revents == Int16(POLLOUT)
    else { return false }
    return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
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
        guard count < 0 else { continue }
        if errno == EAGAIN {
          var descriptor = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&descriptor, 1, -1)
        } else if errno != EINTR {
          break
        }
      }
    }
  }

  private func next() -> [UInt8]? {
    waiting.withLock { waiting in
      var bytes: [UInt8] = []
      swap(&bytes, &waiting.bytes)
      if waiting.dropped > 0 {
        let sentence = "\(waiting.dropped) lines of the log were dropped: the reader was too slow."
        switch waiting.format {
        case .text: bytes += "\(sentence)\n".utf8
        case .json: bytes += "{\"level\":\"warning\",\"message\":\"\(sentence)\"}\n".utf8
        }
        waiting.dropped = 0
      }
      waiting.isScheduled = !bytes.isEmpty
      return bytes.isEmpty ? nil : bytes
    }
  }
}
