import Foundation
import Processes
import Synchronization

/// A worker as a process of its own: takes orders, and tells what happens.
final class WorkerProcess: Sendable {
  /// Seconds that a worker may take to end by itself.
  private static let patience = 10.0

  let index: Int
  let notes: AsyncStream<Note>
  private let process = Process()
  private let orders = Pipe()

  init(_ index: Int) throws {
    self.index = index
    let (notes, continuation) = AsyncStream<Note>.makeStream()
    self.notes = notes
    process.executableURL = try Program("load").file
    process.arguments = ["worker"]
    process.standardInput = orders
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    Thread.detachNewThread {
      var rest: [UInt8] = []
      while true {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { break }
        rest += data
        while let end = rest.firstIndex(of: 0x0A) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest.removeSubrange(...end)
          if let note = Line.decode(Note.self, line) { continuation.yield(note) }
        }
      }
      continuation.yield(.failed("worker \(index) has ended"))
      continuation.finish()
    }
  }

  var pid: pid_t { process.processIdentifier }

  func order(_ order: Order) {
    try? orders.fileHandleForWriting.write(contentsOf: Line.encode(order))
  }

  /// Has it end, and waits until it has.
  func stop() {
    try? orders.fileHandleForWriting.close()
    let end = Date().addingTimeInterval(Self.patience)
    while process.isRunning, Date() < end { usleep(10_000) }
    if process.isRunning { kill(pid, SIGKILL) }
    process.waitUntilExit()
  }

  /// Ends it at once.
  func kill() { kill(pid, SIGKILL) }

  private func kill(_ pid: pid_t, _ number: Int32) { _ = Foundation.kill(pid, number) }
}
