import FamilyModel
import Foundation
import Logging
import RelayFixture
import RelayServer
import RelayStore
import SQLiteStore
import Synchronization
import Testing

/// A large store with a damaged event that its start does not read.
///
/// Scale: the store has 40 MB, and 100 other families approve. Each approves twice instead of for a
/// minute, while the device of the damaged family connects 20 times.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OldDamageTests {
  private static let hit: UInt64 = 2
  private static let others: ClosedRange<UInt64> = 3...102
  private static let needle = "a text of the damaged family"

  /// Counts the loads of the damaged family.
  private final class Loads: Sendable {
    private let loads = Mutex(0)
    var count: Int { loads.withLock { $0 } }
    func record(_ read: WatchedStore.Read, _ family: FamilyID) -> StoreError? {
      if read == .load, family == FamilyID(OldDamageTests.hit) { loads.withLock { $0 += 1 } }
      return nil
    }
  }

  /// Writes the families, and flips a bit in the damaged family's text. More newer events follow
  /// than a start reads.
  private func write(to folder: URL) throws {
    try StoredFamilies(families: Self.hit...Self.hit, posts: 1, text: Self.needle).write(to: folder)
    try StoredFamilies(families: Self.others).write(to: folder)
    let last = Self.others.upperBound + 1
    let text = String(repeating: "x", count: 5_000)
    let posts = Int(SQLiteEventStore.checkedEvents) + 1
    try StoredFamilies(families: last...last, posts: posts, text: text).write(to: folder)
    let file = folder.appendingPathComponent("relay.sqlite")
    var bytes = try Data(contentsOf: file)
    #expect(bytes.count > SQLiteEventStore.checkedBytes)
    // The oldest events are at the start of the file.
    let place = try #require(bytes.range(of: Data(Self.needle.utf8), in: 0..<(1 << 20)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: file)
  }

  @Test("O2: 100 families approve while the device of a family with old damage reconnects")
  func approvals() async throws {
    var fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    try await fixture.stop()
    try write(to: fixture.folder)
    let (log, loads) = (LogRecords(), Loads())
    var found: StoreDamage?
    fixture = try await RelayFixture(in: fixture.folder, logger: log.logger) { store in
      found = try? store.findDamage()
      return WatchedStore(store, failure: { loads.record($0, $1) })
    }
    #expect(found?.families.isEmpty == true, "the start finds no damage")
    let child = try fixture.peer(1, 30, pairs[30])
    let guardian = try fixture.peer(1, 10, pairs[10])
    var connections = 0
    for round: UInt64 in 0...1 {
      for family in Self.others {
        if family % 10 == 3 {
          connections += 1
          let hit = try fixture.peer(Self.hit, 30, pairs[30])
          #expect(try hit.ask(.attach([])) == .failed(.storeDamaged))
          #expect(try hit.post("again") == .failed(.storeDamaged))
        }
        try approve(in: family, from: 2 + 2 * round, child, guardian)
      }
    }
    // Each connection but a few is refused without a read of the damaged record.
    #expect(connections == 20 && (1..<connections).contains(loads.count))
    let isCounted = try await poll {
      fixture.service.requestTurn()
      return fixture.service.meter.statistics().counters["damagedFamilies"] == 1
    }
    #expect(isCounted)
    #expect(log.families == ["\(Self.hit)"])
    try await fixture.stop()
  }

  /// Asks and approves a question in the family. The question's event has the number `seq`.
  private func approve(
    in family: UInt64, from seq: UInt64, _ child: Peer, _ guardian: Peer
  ) throws {
    let header = QuestionHeader(
      id: QuestionID(high: 5, low: seq), child: PersonID(3), app: AppID("example.landmarks"),
      subjects: [], choices: [ChoiceHeader(id: "approve", answer: .approval)],
      expiration: .now + .seconds(1_000))
    let (asked, approved) = (CommandID.next, CommandID.next)
    #expect(
      try child.ask(.command(asked, .ask(header, .sealed([1])), nil), in: family)
        == .accepted(asked, seq: seq), "family \(family)")
    #expect(
      try guardian.ask(.command(approved, .answer(header.id, choice: "approve"), nil), in: family)
        == .accepted(approved, seq: seq + 1), "family \(family)")
  }
}

/// Keeps the families that a relay's log names in errors.
private final class LogRecords: Sendable {
  private let named = Mutex<[String]>([])

  /// The families, one for each record that names one.
  var families: [String] { named.withLock { $0 } }

  var logger: Logger { Logger(label: "relay") { _ in Handler(records: self) } }

  private struct Handler: LogHandler {
    let records: LogRecords
    var logLevel = Logger.Level.error
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      guard let family = event.metadata?["family"] else { return }
      records.named.withLock { $0.append("\(family)") }
    }
  }
}
