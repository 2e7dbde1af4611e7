import Foundation

@testable import SQLiteStore

/// Holds the write lock of a gateway's store, on a thread and a connection of its own.
final class StoreLock: Sendable {
  private let mayEnd = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// - Parameter folder: The gateway's folder.
  init(_ folder: URL) throws {
    let store = try SQLiteGatewayStore(path: folder.appendingPathComponent("gateway.sqlite").path)
    let isHeld = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [mayEnd, hasEnded] in
      try? store.write { _ in
        isHeld.signal()
        mayEnd.wait()
      }
      store.close()
      hasEnded.signal()
    }
    isHeld.wait()
  }

  func end() {
    mayEnd.signal()
    hasEnded.wait()
  }
}
