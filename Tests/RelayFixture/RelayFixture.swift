package import Credentials
package import FamilyCore
package import FamilyModel
package import FamilyTrust
package import Foundation
package import Logging
package import RelayClient
package import RelayServer
package import RelayStore
import RelayWire
package import SQLiteStore
import SystemClock
package import ZeroMQ

/// Milliseconds that a test waits for a required event. Long, because only a missing event is a
/// failure, not a late one.
package let patience = Nanoseconds.seconds(60)

/// A relay in this process with its own folder, real sockets and a real store.
package final class RelayFixture: RelayUnderTest, Sendable {
  package let folder: URL
  package let requests: String
  package let broadcasts: String
  package let keys: RelayKeys
  package let administrator: AdministratorCredential
  package let service: RelayService
  private let task: Task<Void, any Error>

  /// The devices of each family: 10 of the organizer 1, 30 and 40 of the children 3 and 4, 50 of
  /// the adult 5.
  package static let devices: [UInt32] = [10, 30, 40, 50]

  package static func newFolder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent(
      "rs-\(UUID().uuidString.prefix(8))")
  }

  package init(
    in folder: URL = RelayFixture.newFolder(), maxFamilies: Int = 1_000,
    maxRequestsInFlight: Int? = nil,
    wakeThreshold: Int = 2, shards: Int = 3, overTCP: Bool = false, maxConnections: Int? = nil,
    logger: Logger? = nil, wrap: (SQLiteEventStore) -> any EventStore = { $0 },
    adjust: (inout RelayService.Configuration) -> Void = { _ in }
  ) async throws {
    self.folder = folder
    requests = try overTCP ? RelayFixture.freeEndpoint() : RelayKeys.requests(in: folder)
    broadcasts = try overTCP ? RelayFixture.freeEndpoint() : RelayKeys.broadcasts(in: folder)
    keys = try RelayKeys.create(in: folder, requests: requests, broadcasts: broadcasts)
    administrator = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: folder))
    var configuration = RelayService.Configuration(requests: requests, broadcasts: broadcasts)
    configuration.pipeline.maxFamilies = maxFamilies
    if let maxRequestsInFlight { configuration.pipeline.maxRequestsInFlight = maxRequestsInFlight }
    configuration.maxConnections = maxConnections
    configuration.pipeline.shards = shards
    // The small batches of tests must wake the shard workers, too.
    configuration.pipeline.wakeThreshold = wakeThreshold
    configuration.pipeline.requestsPerSlice = 2
    adjust(&configuration)
    nonisolated(unsafe) let store = wrap(
      try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path))
    var errors = Logger(label: "relay") { StreamLogHandler.standardError(label: $0) }
    errors.logLevel = .critical
    let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
    let service = try RelayService(
      configuration, keys: keys, store: store, logger: logger ?? errors
    ) { continuation.finish() }
    self.service = service
    task = Task { try await service.run() }
    for await _ in ready {}
  }

  /// An unused TCP endpoint of this machine.
  package static func freeEndpoint() throws -> String {
    let socket = try Socket(.dealer, in: try Context())
    try socket.bind("tcp://127.0.0.1:*")
    return try socket.lastEndpoint()
  }

  /// Starts a graceful shutdown.
  package func requestStop() { task.cancel() }

  /// Stops the relay.
  ///
  /// - Throws: The error with which the relay failed.
  package func stop() async throws {
    requestStop()
    try await task.value
  }

  /// The error with which the relay failed; `nil` after a graceful shutdown.
  package func failure() async -> (any Error)? {
    do {
      try await task.value
      return nil
    } catch { return error }
  }

  /// The keys of a device, which are the same in every family.
  package static func deviceKeys(_ device: UInt32) -> DeviceKeys {
    let secret = [UInt8](repeating: UInt8(device), count: 32)
    return DeviceKeys(signingSecret: secret, agreementSecret: secret)!
  }

  package static func security(_ device: UInt32) -> Security {
    Security(KeyVault(deviceKeys(device)), organizerKey: deviceKeys(10).signingKey)
  }

  /// A client that acts with the credential of a device.
  package func client(
    _ family: UInt64, _ device: UInt32, _ role: Role, _ keys: [UInt32: CurveKeyPair]
  )
    throws -> DeviceClient
  {
    try DeviceClient(
      Credential(
        address: DeviceAddress(family: FamilyID(family), device: DeviceID(device)),
        personID: PersonID(device / 10), role: role, name: "P\(device / 10)", keys: keys[device]!,
        deviceKeys: RelayFixture.deviceKeys(device),
        organizerKey: RelayFixture.deviceKeys(10).signingKey,
        relayKey: self.keys.keys.publicKey, requests: RelayKeys.requests(in: folder),
        broadcasts: RelayKeys.broadcasts(in: folder)))
  }
}

extension CommandID {
  /// A new id, later than all before, as devices create them.
  package static var next: CommandID {
    CommandID(high: MonotonicInstant.now.nanoseconds, low: .random(in: 0 ... .max))
  }
}

extension Signature {
  /// An invalid signature of the right shape: the relay checks only the shape.
  package static func shape(of signer: DeviceID) -> Signature {
    Signature(signer: signer, basedOnSeq: 1, bytes: Array(repeating: 7, count: 64))
  }
}
