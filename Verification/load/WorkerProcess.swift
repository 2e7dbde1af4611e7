import Foundation
import Processes
import Synchronization

/// A worker process as the load sees it: orders in, reports out.
final class WorkerProcess: Sendable {
  /// Seconds within which a worker must end after its orders have ended.
  private static let stopTimeout = 10.0

  let index: Int
  let reports: AsyncStream<WorkerReport>
  private let process = Process()
  private let orders = Pipe()

  init(_ index: Int) throws {
    self.index = index
    let (reports, continuation) = AsyncStream<WorkerReport>.makeStream()
    self.reports = reports
    process.executableURL = try Program("load").file
    process.arguments = ["worker"]
    process.standardInput = orders
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    Thread.detachNewThread {
      var buffer: [UInt8] = []
      while true {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { break }
        buffer += data
        while let end = buffer.firstIndex(of: 0x0A) {
          let line = String(decoding: buffer[..<end], as: UTF8.self)
          buffer.removeSubrange(...end)
          if let report = Line.decode(WorkerReport.self, line) { continuation.yield(report) }
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

  /// Ends the worker's orders and waits for its end.
  func stop() {
    try? orders.fileHandleForWriting.close()
    let end = Date().addingTimeInterval(Self.stopTimeout)
    while process.isRunning, Date() < end { usleep(10_000) }
    if process.isRunning { kill(pid, SIGKILL) }
    process.waitUntilExit()
  }

  /// Kills the worker.
  func kill() { kill(pid, SIGKILL) }

  private func kill(_ pid: pid_t, _ number: Int32) { _ = Foundation.kill(pid, number) }
}
