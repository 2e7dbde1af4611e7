public import FamilyModel
public import Foundation
public import Logging
import RelayOperation
public import ServiceLifecycle
import SystemClock
import ZeroMQ

/// The relay's answers to its operator, on a thread of their own.
///
/// A relay whose socket thread or disk hangs still answers here, and the numbers show it. The service
/// also feeds the service manager's watchdog while the relay works.
public actor OperatorService: Service {
  /// The time between two checks.
  static let pulse = Nanoseconds.seconds(1)

  private nonisolated let thread: SocketThread
  /// The service's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  private let directory: URL
  private let store: String
  private let version: String
  private let relay: RelayService
  private let notifier: ServiceNotifier
  private let logger: Logger
  private let context: Context
  private let socket: Socket
  private var message = Multipart(maximumParts: 1)
  private var nextPulse = MonotonicInstant.now
  /// The last copy of the store; `nil` if none was requested.
  private var backup: StoreBackup?
  private var scrub: StoreScrub
  private var shipping: LogShipping
  /// `nil` in a relay that erases nothing.
  private var retention: RetentionSweep?
  private let shutdown = AsyncStream.makeStream(of: Never.self)

  /// Creates the service of a relay.
  ///
  /// - Parameters:
  ///   - directory: The folder of the socket.
  ///   - store: The path of its store.
  ///   - version: The relay's version.
  ///   - retention: See ``RetentionSweep``; `nil` erases nothing.
  /// - Throws: `ZeroMQError` if the thread or the socket cannot be created.
  public init(
    _ relay: RelayService, at directory: URL, store: String, version: String,
    retention: Milliseconds? = nil,
    notifier: ServiceNotifier = ServiceNotifier(), logger: Logger
  ) throws {
    self.relay = relay
    self.directory = directory
    self.store = store
    self.version = version
    self.notifier = notifier
    self.logger = logger
    scrub = StoreScrub(relay.copier, logger)
    shipping = LogShipping(relay.copier)
    self.retention = retention.map { RetentionSweep(relay.copier, keeping: $0, logger) }
    thread = try SocketThread(name: "operator")
    context = try Context()
    var options = SocketOptions()
    options.maximumMessageSize = Int64(OperatorEndpoint.maximumBytes)
    socket = try Socket(.rep, in: context, options: options)
    // A killed relay leaves its copy.
    unlink(copyPath)
  }

  private nonisolated var copyPath: String {
    URL(fileURLWithPath: store).deletingLastPathComponent().appendingPathComponent("backup.sqlite")
      .path
  }

  /// Runs until a graceful shutdown or the cancellation of the task.
  ///
  /// - Throws: `ZeroMQError` if the endpoint cannot be bound.
  public func run() async throws {
    defer { thread.stop() }
    try socket.bind(OperatorEndpoint.endpoint(in: directory))
    thread.watch(socket) { [weak self] in self?.assumeIsolated { $0.drain() } }
    thread.onTurn { [weak self] now in self?.assumeIsolated { $0.check(now) } ?? nil }
    let shutdown = shutdown
    await withGracefulShutdownHandler {
      for await _ in shutdown.stream {}
    } onGracefulShutdown: { [notifier] in
      notifier.notify(.stopping)
      shutdown.continuation.finish()
    }
  }

  /// Copies the next part of a backup, verifies the next part of the store, and feeds the watchdog while the relay works.
  ///
  /// - Returns: The time of the next check.
  private func check(_ now: MonotonicInstant) -> MonotonicInstant {
    backup?.advance()
    scrub.advance()
    retention?.advance(at: .now)
    if now >= nextPulse {
      nextPulse = now + Self.pulse
      // An idle relay takes no turn, and then records none.
      relay.requestTurn()
      if relay.meter.statistics().isAlive { notifier.notify(.watchdog) }
    }
    let next = min(nextPulse, scrub.due, retention?.due ?? nextPulse)
    guard let backup, backup.state.isUnderWay else { return next }
    return min(next, backup.due)
  }

  private func drain() {
    do {
      while true {
        let result = try socket.receive(into: &message)
        guard result != .nothing else { return }
        // Each request has a reply: libzmq accepts no further request before it.
        let reply = reply(to: result == .message ? Data(message.bytes(0)) : Data())
        _ = try socket.send([[UInt8](JSONEncoder().encode(reply))])
      }
    } catch { logger.error("operator endpoint", metadata: ["error": "\(error)"]) }
  }

  private func reply(to bytes: Data) -> OperatorReply {
    guard let request = try? JSONDecoder().decode(OperatorRequest.self, from: bytes) else {
      return .refused("The relay does not know this request. Use the relayctl of its version.")
    }
    switch request {
    case .statistics:
      var statistics = relay.meter.statistics()
      statistics.version = version
      statistics.store = RelayStatistics.Store(path: store)
      statistics.process = .current
      statistics.counters["scrubbedEvents"] = scrub.events
      statistics.counters["scrubDamage"] = scrub.damage
      statistics.counters["erasedContents"] = retention?.erased ?? 0
      statistics.lastBackup = backup?.state.completed
      statistics.lastSegment = shipping.completed
      return .statistics(statistics)
    case .beginBackup:
      if backup?.state.isUnderWay != true {
        let (store, reserve) = (store, relay.reservedBytes)
        backup = StoreBackup(relay.copier, to: copyPath) {
          // The disk would count as full until a quarter more is free.
          RelayStatistics.Store.freeBytes(at: store).map { $0 - reserve - reserve / 4 } ?? .max
        }
      }
      return .backup(backup!.state)
    case .backup:
      return backup.map { .backup($0.state) } ?? .refused("No copy of the store was requested.")
    case .log(let position, let isDurable):
      return shipping.reply(after: position, isDurable: isDurable)
    }
  }
}
