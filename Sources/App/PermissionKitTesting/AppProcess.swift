import DeviceConnection
import FamilyModel
import RelayStore
import Synchronization

/// One process of the app, as its connection to the device. Requests after the end are dropped.
actor AppProcess: DeviceConnection {
  nonisolated let events: AsyncStream<DeviceEvent>
  private nonisolated let continuation: AsyncStream<DeviceEvent>.Continuation
  private nonisolated let receive: @Sendable (AppRequest) -> Void
  private nonisolated let runs = Mutex(true)
  private nonisolated let delivered = Mutex(0)

  init(_ receive: @escaping @Sendable (AppRequest) -> Void) {
    self.receive = receive
    (events, continuation) = AsyncStream.makeStream()
    deliver(.connected)
  }

  func send(_ request: AppRequest) {
    guard runs.withLock({ $0 }) else { return }
    receive(request)
  }

  /// Delivers an event of the device to the app.
  nonisolated func deliver(_ event: DeviceEvent) {
    guard runs.withLock({ $0 }) else { return }
    delivered.withLock { $0 += 1 }
    continuation.yield(event)
  }

  /// The number of events delivered so far.
  nonisolated var count: Int { delivered.withLock { $0 } }

  /// Whether the process has not ended.
  nonisolated var isRunning: Bool { runs.withLock { $0 } }

  /// Ends the process, as `kill -9` does.
  nonisolated func end() {
    runs.withLock { $0 = false }
    continuation.finish()
  }
}

/// The app's disk. A disk outlives the app's processes.
final class AppDisk: Sendable {
  private let records = Mutex<[[UInt8]: [UInt8]]>([:])

  /// A store on this disk for one process of the app.
  func store() -> sending any AgentStore { Store(disk: self) }

  private final class Store: AgentStore {
    let disk: AppDisk
    init(disk: AppDisk) { self.disk = disk }

    func load(prefix: [UInt8]) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
      disk.records.withLock { records in
        records.filter { $0.key.starts(with: prefix) }
          .sorted { $0.key.lexicographicallyPrecedes($1.key) }
          .map { (key: $0.key, value: $0.value) }
      }
    }

    func apply(_ changes: [Change]) throws(StoreError) {
      disk.records.withLock { for change in changes { $0[change.key] = change.value } }
    }

    func close() {}
  }
}
