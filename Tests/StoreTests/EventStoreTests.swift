import FamilyModel
import RelayStore
import SQLiteStore
import Testing

/// The engines that the contract's tests run against.
enum StoreKind: CaseIterable { case memory, sqlite }

/// The contract of `EventStore`, tested against every engine.
@Suite struct EventStoreTests {
  private func store(_ kind: StoreKind, _ folder: Folder) throws -> any EventStore {
    switch kind {
    case .memory: MemoryEventStore()
    case .sqlite: try SQLiteEventStore(path: folder.path("relay.sqlite"))
    }
  }

  @Test(
    "M3: a family's events load in order and apart from other families",
    arguments: StoreKind.allCases)
  func order(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    try store.commit(batch([event(1, 1), event(2, 1), event(1, 2), event(2, 2), event(1, 3)]))
    #expect(try store.load(FamilyID(1)).events == [event(1, 1), event(1, 2), event(1, 3)])
    #expect(try store.load(FamilyID(2)).events == [event(2, 1), event(2, 2)])
    #expect(try store.load(FamilyID(3)).events.isEmpty)
  }

  @Test("X2: a batch with a conflict stores nothing", arguments: StoreKind.allCases)
  func atomic(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    try store.commit(batch([event(1, 1)]))
    #expect(throws: StoreError.conflict) { try store.commit(batch([event(1, 2), event(1, 1)])) }
    #expect(throws: StoreError.conflict) { try store.commit(batch([event(1, 2), event(1, 4)])) }
    #expect(try store.load(FamilyID(1)).events == [event(1, 1)])
  }

  @Test(
    "X2: a command's id always finds the sequence number of its event",
    arguments: StoreKind.allCases)
  func dedupe(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    try store.commit(batch([event(1, 1), event(1, 2)]))
    let (id, device) = (event(1, 2).command, DeviceID(1))
    #expect(try store.event(of: id, by: device, in: FamilyID(1)) == event(1, 2))
    #expect(try store.event(of: id, by: device, in: FamilyID(2)) == nil)
  }

  @Test(
    "T1: an id of another device names another command, on both sides of a mark",
    arguments: StoreKind.allCases)
  func owner(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    try store.commit(
      batch(
        (1...200 as ClosedRange<UInt64>).map { seq in
          var next = event(1, seq)
          next.device = DeviceID(UInt32(1 + seq % 2))
          next.command = ID128(high: 5, low: (seq + 1) / 2)
          return next
        }))
    for number: UInt64 in 1...100 {
      for device: UInt32 in 1...2 {
        let id = ID128(high: 5, low: number)
        let found = try store.event(of: id, by: DeviceID(device), in: FamilyID(1))
        #expect(found?.seq == 2 * number - (device == 2 ? 1 : 0))
        #expect(found?.device == DeviceID(device))
        #expect(try store.event(of: id, by: DeviceID(3), in: FamilyID(1)) == nil)
      }
    }
  }

  @Test(
    "M5: pages of an audience end at a limit or a size, and hold at least one event",
    arguments: StoreKind.allCases)
  func pages(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    let talk = Audience.conversation(PersonID(3))
    try store.commit(batch((1...10).map { event(1, $0, $0 % 2 == 0 ? talk : .family) }))
    let first = try store.events(
      of: FamilyID(1), talk, after: 2, through: .max, limit: 2, bytes: 1 << 20)
    #expect(first.events.map(\.seq) == [4, 6])
    #expect(first.more)
    let last = try store.events(
      of: FamilyID(1), talk, after: 6, through: .max, limit: 2, bytes: 1 << 20)
    #expect(last.events.map(\.seq) == [8, 10])
    #expect(!last.more)
    let known = try store.events(
      of: FamilyID(1), talk, after: 4, through: 8, limit: 2, bytes: 1 << 20)
    #expect(known.events.map(\.seq) == [6, 8])
    #expect(!known.more)
    #expect(
      try store.events(of: FamilyID(1), talk, after: 8, through: 8, limit: 2, bytes: 9).events == []
    )
    let small = try store.events(of: FamilyID(1), talk, after: 0, through: .max, limit: 9, bytes: 1)
    #expect(small.events.map(\.seq) == [2])
    #expect(small.more)
  }

  @Test("M4: a cursor replaces the earlier one", arguments: StoreKind.allCases)
  func cursors(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    try store.commit(batch((1...5).map { event(1, $0) }))
    for delivered: UInt64 in [3, 5] {
      var batch = Batch()
      batch.cursors = [
        StoredCursor(
          family: FamilyID(1), device: DeviceID(2),
          cursor: Cursor(.family, delivered: delivered, read: 1))
      ]
      try store.commit(batch)
    }
    #expect(try store.load(FamilyID(1)).cursors.map(\.cursor.delivered) == [5])
  }

  @Test(
    "T8: a passcode lock replaces the earlier one, and survives a new start",
    arguments: StoreKind.allCases)
  func passcodeLock(_ kind: StoreKind) throws {
    let folder = try Folder()
    var store = try store(kind, folder)
    let locks = [1, 2].map { StoredPasscodeLock(family: FamilyID(1), payload: [1, $0]) }
    for lock in locks {
      var batch = Batch()
      batch.passcodeLocks = [lock]
      #expect(!batch.isEmpty)
      try store.commit(batch)
    }
    if kind == .sqlite {
      store.close()
      store = try self.store(kind, folder)
    }
    #expect(try store.load(FamilyID(1)).passcodeLock == locks[1])
    #expect(try store.load(FamilyID(2)).passcodeLock == nil)
  }

  @Test(
    "a snapshot replaces the earlier one, and the events after a snapshot load alone",
    arguments: StoreKind.allCases)
  func snapshot(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    var all = batch([event(1, 1), event(1, 2), event(1, 3)])
    let snapshots = [1, 2].map { seq in
      StoredSnapshot(family: FamilyID(1), seq: seq, payload: [1, 2, UInt8(seq)])
    }
    all.snapshots = snapshots
    try store.commit(all)
    #expect(try store.snapshot(of: FamilyID(1)) == snapshots[1])
    #expect(try store.snapshot(of: FamilyID(2)) == nil)
    #expect(try store.load(FamilyID(1), after: 2).events == [event(1, 3)])
    #expect(try store.load(FamilyID(1), after: 3).events.isEmpty)
    #expect(try store.load(FamilyID(1)).events.count == 3)
  }
}
