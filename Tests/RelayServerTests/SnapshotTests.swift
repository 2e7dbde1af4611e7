import RelayFixture
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import Testing

/// Loading a family with a long history.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SnapshotTests {
  @Test(
    """
    X2: loads a long history from its snapshot, or from all events if the snapshot has another format, \
    and detects damage
    """)
  func long() async throws {
    var fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    var child = try fixture.peer(1, 30, pairs[30])
    let first = CommandID.next
    #expect(try child.post("the first", id: first) == .accepted(first, seq: 2))
    for seq in 3...1_100 {
      try child.send(.command(.next, .post(child: PersonID(3), .text("number \(seq)"))))
    }
    for _ in 3...1_100 { #expect(try child.receive() != nil) }
    try await fixture.stop()
    let file = fixture.folder.appendingPathComponent("relay.sqlite")
    let snapshot = try #require(try stored(file) { try $0.snapshot(of: FamilyID(1)) })
    #expect(snapshot.seq == 1_024)
    var bytes = try Data(contentsOf: file)
    bytes[try #require(bytes.range(of: Data("number 100".utf8))).lowerBound] ^= 1
    try bytes.write(to: file)
    fixture = try await RelayFixture(in: fixture.folder)
    child = try fixture.peer(1, 30, pairs[30])
    let id = CommandID.next
    #expect(try child.post("the last", id: id) == .accepted(id, seq: 1_101))
    #expect(try child.post("the first", id: first) == .accepted(first, seq: 2))
    try await fixture.stop()
    var batch = Batch()
    batch.snapshots = [
      StoredSnapshot(family: FamilyID(1), seq: 1_024, payload: [0] + snapshot.payload)
    ]
    try stored(file) { try $0.commit(batch) }
    fixture = try await RelayFixture(in: fixture.folder)
    child = try fixture.peer(1, 30, pairs[30])
    #expect(try child.ask(.ping) == .failed(.storeDamaged))
    try await fixture.stop()
  }

  private func stored<R>(_ file: URL, _ body: (SQLiteEventStore) throws -> R) throws -> R {
    let store = try SQLiteEventStore(path: file.path)
    defer { store.close() }
    return try body(store)
  }
}
