import DeviceConnection
import FamilyModel
import RelayStore
import Synchronization

/// One life of the app: its connection to the device. What it sends after its end goes nowhere.
actor AppProcess: DeviceConnection {
  nonisolated let events: AsyncStream<DeviceEvent>
  private nonisolated let continuation: AsyncStream<DeviceEvent>.Continuation
  private nonisolated let receive: @Sendable (AppRequest) -> Void
  private nonisolated let isRunning = Mutex(true)
  private nonisolated let given = Mutex(0)

  init(_ receive: @escaping @Sendable (AppRequest) -> Void) {
    self.receive = receive
    (events, continuation) = AsyncStream.makeStream()
    give(.connected)
  }

  func send(_ request: AppRequest) {
    guard isRunning.withLock({ $0 }) else { return }
    receive(request)
  }

  /// What the device has for the app.
  nonisolated func give(_ event: DeviceEvent) {
    guard isRunning.withLock({ $0 }) else { return }
    given.withLock { $0 += 1 }
    continuation.yield(event)
  }

  /// How many events there were.
  nonisolated var count: Int { given.withLock { $0 } }

  /// From now on the app is dead.
  nonisolated func end() {
    isRunning.withLock { $0 = false }
    continuation.finish()
  }
}

/// The app's disk: it outlives the app's processes.
final class AppDisk: Sendable {
  private let records = Mutex<[[UInt8]: [UInt8]]>([:])

  /// The disk as a process of the app sees it.
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
