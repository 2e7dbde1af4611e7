import RelayServer
import Dispatch
import RelayFixture
import FamilyModel
import RelayStore
import RelayWire
import Synchronization
import SystemClock
import Testing
import ZeroMQ

/// Many families that one child's device belongs to, on one connection; and a store that takes its time when
/// the test wants many requests to come as one batch.
final class ManyFamilies {
  static let families: ClosedRange<UInt64> = 1...24

  let rig: RelayFixture
  let peer: Peer
  /// The device's.
  let keys: CurveKeyPair
  private let store = Shared()
  private var lastID: UInt64 = 0

  private final class Shared: Sendable {
    let onCommit = Mutex<@Sendable (Batch) -> WatchedStore.Mode?>({ _ in nil })
  }

  init(
    shards: Int, maxFamilies: Int = 1_000, maxRequestsInFlight: Int? = nil, wakeThreshold: Int = 2
  ) async throws {
    rig = try await RelayFixture(
      maxFamilies: maxFamilies, maxRequestsInFlight: maxRequestsInFlight, wakeThreshold: wakeThreshold,
      shards: shards
    ) { [store] in
      WatchedStore($0) { batch in store.onCommit.withLock { $0 }(batch) }
    }
    var pairs: [UInt32: CurveKeyPair] = [:]
    for device in RelayFixture.devices { pairs[device] = try .generate() }
    for family in Self.families { try rig.setRoster(family, pairs) }
    keys = pairs[30]!
    peer = try rig.peer(1, 30, keys)
    _ = try peer.ask(.ping)
  }

  func set(_ new: WatchedStore.Mode?) { onCommit { _ in new } }

  /// From the next commit on.
  func onCommit(_ body: @escaping @Sendable (Batch) -> WatchedStore.Mode?) {
    store.onCommit.withLock { $0 = body }
  }

  /// The id that the reply will have.
  @discardableResult
  func send(_ request: Request, in family: UInt64, behind other: UInt64? = nil) throws -> UInt64 {
    lastID += 1
    let address = DeviceAddress(family: FamilyID(family), device: DeviceID(30))
    var bytes = Envelope(device: address, requestID: 1_000 + lastID, request: request).encode()
    // Version 1 takes two bytes. The family is the second field; of two the last one counts.
    if let other { bytes.insert(contentsOf: [0x10, UInt8(other)], at: 2) }
    try peer.sendRaw([[], bytes])
    return 1_000 + lastID
  }

  @discardableResult
  func post(_ text: String, in family: UInt64, id: CommandID = .next) throws -> UInt64 {
    try send(Self.post(text, id), in: family)
  }

  static func post(_ text: String, _ id: CommandID = .next) -> Request {
    .command(id, .post(child: PersonID(3), .text(text)), .shape(of: DeviceID(30)))
  }

  func replies(_ count: Int) throws -> [ReplyEnvelope] {
    try (0..<count).compactMap { _ in try peer.receive() }
  }

  /// Has one commit take long enough for all that `body` sends to come as one batch.
  func atOnce(_ body: () throws -> Void) throws {
    let commits = Commits(holding: 0)
    onCommit {
      _ = commits.isHeld($0)
      return nil
    }
    let first = try post("first", in: Self.families.lowerBound)
    // While this waits for its commit, the others wait in the socket.
    #expect(commits.waitUntilHeld())
    set(nil)
    try body()
    #expect(try peer.receive(within: 100) == nil)
    commits.letGo()
    #expect(try peer.receive()?.requestID == first)
  }

  /// Listens to the first family, and hears that it does.
  func attach() throws {
    try peer.attach([Cursor(.family, delivered: 1)])
    while try peer.broadcast(within: 300) != nil {}
  }

  /// The texts of the child's conversation.
  func texts(in family: UInt64) throws -> [String] {
    let id = try send(.fetch(.conversation(PersonID(3)), after: 0), in: family)
    while let reply = try peer.receive() {
      guard reply.requestID == id, case .page(_, let events, _) = reply.reply.opened() else {
        continue
      }
      return events.compactMap {
        if case .posted(_, .text(let text)) = $0.body { text } else { nil }
      }
    }
    return []
  }
}

/// The events that a store was given, commit by commit; one of the commits waits for the test.
final class Commits: Sendable {
  private let all = Mutex<[[StoredEvent]]>([])
  private let held: Int?
  private let (arrives, goes) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

  /// - Parameter held: How many come before the one that waits.
  init(holding held: Int? = nil) { self.held = held }

  var batches: [[StoredEvent]] { all.withLock { $0 } }

  /// Notes the commit; it returns late, and true, for the one that is held.
  func isHeld(_ batch: Batch) -> Bool {
    // Cursors come when they are due.
    guard !batch.events.isEmpty else { return false }
    let number = all.withLock { all in
      all.append(batch.events)
      return all.count - 1
    }
    guard number == held else { return false }
    arrives.signal()
    return goes.wait(timeout: .now() + 30) == .success
  }

  /// Returns when the one that is held is on its way.
  func waitUntilHeld() -> Bool { arrives.wait(timeout: .now() + 30) == .success }

  func letGo() { goes.signal() }
}
