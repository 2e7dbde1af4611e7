import FamilyModel
import RelayStore

private let talk = Audience.conversation(PersonID(3))

extension Trial {
  private func commit(_ cursors: [StoredCursor]) throws {
    var batch = Batch()
    batch.cursors = cursors
    try store.commit(batch)
  }

  func replacesCursors() throws {
    try store.commit(batch((1...5).map { event(1, $0) } + [event(2, 1)]))
    let ascending = [
      cursor(1, 2, by: 1, in: talk), cursor(1, 1, by: 2), cursor(1, 3, by: 2, in: talk),
    ]
    try commit(ascending.reversed() + [cursor(2, 1, by: 1, in: talk)])
    expect(try store.load(FamilyID(1)).cursors, ascending)
    try commit([cursor(1, 5, by: 2), cursor(1, 1, by: 1, in: talk)])
    expect(
      try store.load(FamilyID(1)).cursors,
      [cursor(1, 1, by: 1, in: talk), cursor(1, 5, by: 2), ascending[2]])
    // One device and audience twice in a batch.
    try commit([cursor(1, 4, by: 2), cursor(1, 3, by: 2)])
    expect(try store.load(FamilyID(1)).cursors[1], cursor(1, 3, by: 2))
    expect(try store.load(FamilyID(2)).cursors, [cursor(2, 1, by: 1, in: talk)])
  }

  func replacesSnapshots() throws {
    var all = batch([event(1, 1), event(1, 2), event(1, 3), event(2, 1)])
    all.snapshots = [snapshot(1, 1), snapshot(2, 1), snapshot(1, 2)]
    try store.commit(all)
    expect(try store.snapshot(of: FamilyID(1)), snapshot(1, 2))
    all = Batch()
    all.snapshots = [snapshot(1, 3)]
    try store.commit(all)
    expect(try store.snapshot(of: FamilyID(1)), snapshot(1, 3))
    expect(try store.snapshot(of: FamilyID(2)), snapshot(2, 1))
    expect(try store.load(FamilyID(1)).events.count, 3)
  }

  func replacesLocks() throws {
    for locks in [[lock(1, 1), lock(2, 2)], [lock(1, 3), lock(1, 4)], [lock(1, 5)]] {
      var batch = Batch()
      batch.passcodeLocks = locks
      try store.commit(batch)
      expect(try store.load(FamilyID(1)).passcodeLock, locks.last { $0.family == FamilyID(1) })
    }
    expect(try store.load(FamilyID(2)).passcodeLock, lock(2, 2))
  }
}
