import RelayFixture
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import Testing

/// How the relay comes by a family with a long history.
@Suite(.serialized, .timeLimit(.minutes(1))) struct SnapshotTests {
  @Test(
    """
    X2: a family with a long history is read from its snapshot, or from all its events where that is of another \
    form, and damage is found by whoever reads it
    """)
  func long() async throws {
    var rig = try await RelayFixture()
    let pairs = try rig.found(1)
    var child = try rig.peer(1, 30, pairs[30])
    let first = CommandID.next
    #expect(try child.post("the first", id: first) == .accepted(first, seq: 2))
    for seq in 3...1_100 {
      try child.send(.command(.next, .post(child: PersonID(3), .text("number \(seq)"))))
    }
    for _ in 3...1_100 { #expect(try child.receive() != nil) }
    try await rig.stop()
    let file = rig.folder.appendingPathComponent("relay.sqlite")
    let snapshot = try #require(try stored(file) { try $0.snapshot(of: FamilyID(1)) })
    #expect(snapshot.seq == 1_024)
    var bytes = try Data(contentsOf: file)
    bytes[try #require(bytes.range(of: Data("number 100".utf8))).lowerBound] ^= 1
    try bytes.write(to: file)
    rig = try await RelayFixture(in: rig.folder)
    child = try rig.peer(1, 30, pairs[30])
    let id = CommandID.next
    #expect(try child.post("the last", id: id) == .accepted(id, seq: 1_101))
    #expect(try child.post("the first", id: first) == .accepted(first, seq: 2))
    try await rig.stop()
    var batch = Batch()
    batch.snapshots = [
      StoredSnapshot(family: FamilyID(1), seq: 1_024, payload: [0] + snapshot.payload)
    ]
    try stored(file) { try $0.commit(batch) }
    rig = try await RelayFixture(in: rig.folder)
    child = try rig.peer(1, 30, pairs[30])
    try child.send(.ping)
    #expect((await rig.failure() as? StoreError)?.isDamage == true)
    #expect(try child.receive(within: 100) == nil)
  }

  private func stored<R>(_ file: URL, _ body: (SQLiteEventStore) throws -> R) throws -> R {
    let store = try SQLiteEventStore(path: file.path)
    defer { store.close() }
    return try body(store)
  }
}
