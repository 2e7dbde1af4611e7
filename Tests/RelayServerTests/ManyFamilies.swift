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

/// A relay with many families that share one child's device on one connection.
///
/// The store can delay a commit, so that many requests arrive as one batch.
final class ManyFamilies {
  static let families: ClosedRange<UInt64> = 1...24

  let fixture: RelayFixture
  let peer: Peer
  /// The child's device's key.
  let keys: CurveKeyPair
  private let store = Shared()
  private var lastID: UInt64 = 0

  private final class Shared: Sendable {
    let onCommit = Mutex<@Sendable (Batch) -> WatchedStore.Mode?>({ _ in nil })
  }

  init(
    shards: Int, maxFamilies: Int = 1_000, maxRequestsInFlight: Int? = nil, wakeThreshold: Int = 2
  ) async throws {
    fixture = try await RelayFixture(
      maxFamilies: maxFamilies, maxRequestsInFlight: maxRequestsInFlight,
      wakeThreshold: wakeThreshold,
      shards: shards
    ) { [store] in
      WatchedStore($0) { batch in store.onCommit.withLock { $0 }(batch) }
    }
    var pairs: [UInt32: CurveKeyPair] = [:]
    for device in RelayFixture.devices { pairs[device] = try .generate() }
    for family in Self.families { try fixture.setRoster(family, pairs) }
    keys = pairs[30]!
    peer = try fixture.peer(1, 30, keys)
    _ = try peer.ask(.ping)
  }

  func setMode(_ new: WatchedStore.Mode?) { onCommit { _ in new } }

  /// Sets the behaviour of the store from the next commit on.
  func onCommit(_ body: @escaping @Sendable (Batch) -> WatchedStore.Mode?) {
    store.onCommit.withLock { $0 = body }
  }

  /// Sends a request for the family.
  ///
  /// - Parameter other: A family number to insert before the valid one.
  /// - Returns: The request id of the reply.
  @discardableResult
  func send(_ request: Request, in family: UInt64, behind other: UInt64? = nil) throws -> UInt64 {
    lastID += 1
    let address = DeviceAddress(family: FamilyID(family), device: DeviceID(30))
    var bytes = Envelope(device: address, requestID: 1_000 + lastID, request: request).encode()
    // The version takes two bytes. The family is the second field; a decoder uses the last of two.
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

  /// Delays one commit until `body` has sent its requests, so that they arrive as one batch.
  func inOneBatch(_ body: () throws -> Void) throws {
    let commits = Commits(holding: 0)
    onCommit {
      _ = commits.record($0)
      return nil
    }
    let first = try post("first", in: Self.families.lowerBound)
    // The other requests wait in the socket during this commit.
    #expect(commits.waitUntilHeld())
    setMode(nil)
    try body()
    #expect(try peer.receive(within: .milliseconds(100)) == nil)
    commits.release()
    #expect(try peer.receive()?.requestID == first)
  }

  /// Subscribes to the first family, and waits until the subscriptions are active.
  func attach() throws {
    try peer.attach([Cursor(.family, delivered: 1)])
    while try peer.broadcast(within: .milliseconds(300)) != nil {}
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

/// The events of each commit. One of the commits waits until the test releases it.
final class Commits: Sendable {
  private let all = Mutex<[[StoredEvent]]>([])
  private let held: Int?
  private let (begun, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

  /// - Parameter held: The number of commits before the one that waits; `nil` if none waits.
  init(holding held: Int? = nil) { self.held = held }

  var batches: [[StoredEvent]] { all.withLock { $0 } }

  /// Records the commit, and waits if it is the held one.
  ///
  /// - Returns: Whether the commit was held and released.
  func record(_ batch: Batch) -> Bool {
    // Commits of cursors alone happen at any time.
    guard !batch.events.isEmpty else { return false }
    let number = all.withLock { all in
      all.append(batch.events)
      return all.count - 1
    }
    guard number == held else { return false }
    begun.signal()
    // Far longer than a test takes on a busy machine: only a test that failed leaves its commit held.
    return released.wait(timeout: .now() + 300) == .success
  }

  /// Waits until the held commit begins.
  func waitUntilHeld() -> Bool { begun.wait(timeout: .now() + 60) == .success }

  func release() { released.signal() }
}
