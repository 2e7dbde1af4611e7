import FamilyModel
import RelayStore

extension Trial {
  func keepsOrder() throws {
    try store.commit(batch([event(1, 1), event(2, 1), event(1, 2), event(2, 2), event(1, 3)]))
    expect(try store.load(FamilyID(1)).events, [event(1, 1), event(1, 2), event(1, 3)])
    expect(try store.load(FamilyID(2)).events, [event(2, 1), event(2, 2)])
  }

  func findsNothing() throws {
    var other = batch([event(1, 1)])
    other.cursors = [cursor(1, 1)]
    other.snapshots = [snapshot(1, 1)]
    other.passcodeLocks = [lock(1, 1)]
    try store.commit(other)
    var command = event(1, 1)
    command.family = FamilyID(2)
    expect(try store.load(command.family), StoredFamily())
    expect(try store.snapshot(of: command.family), nil)
    expect(try store.page(2, .family), FoundPage(events: [], more: false))
    expect(try store.result(of: command), nil)
  }

  func refusesOtherNumbers() throws {
    for seq: UInt64 in [0, 2, 1 << 62] { expectConflict(batch([event(1, seq)])) }
    try store.commit(batch([event(1, 1), event(1, 2)]))
    for seq: UInt64 in [0, 1, 2, 4] { expectConflict(batch([event(1, seq)])) }
    for seqs: [UInt64] in [[3, 3], [3, 5], [3, 2], [4, 3]] {
      expectConflict(batch(seqs.map { event(1, $0) }))
    }
    try store.commit(batch([event(1, 3)]))
    expect(try store.load(FamilyID(1)).events, (1...3).map { event(1, $0) })
  }

  func storesNothingOfConflicts() throws {
    try store.commit(batch([event(1, 1)]))
    var mixed = batch([event(2, 1), event(1, 2), event(1, 2)])
    mixed.cursors = [cursor(1, 1)]
    mixed.snapshots = [snapshot(1, 1)]
    mixed.passcodeLocks = [lock(1, 1)]
    expectConflict(mixed)
    expect(try store.load(FamilyID(1)), StoredFamily(events: [event(1, 1)]))
    expect(try store.load(FamilyID(2)), StoredFamily())
    expect(try store.snapshot(of: FamilyID(1)), nil)
    for command in [event(1, 2), event(2, 1)] { expect(try store.result(of: command), nil) }
    mixed.events.removeLast()
    try store.commit(mixed)
    expect(
      try store.load(FamilyID(1)),
      StoredFamily(
        events: [event(1, 1), event(1, 2)], cursors: mixed.cursors, passcodeLock: lock(1, 1)))
    expect(try store.load(FamilyID(2)).events, [event(2, 1)])
    expect(try store.snapshot(of: FamilyID(1)), snapshot(1, 1))
  }

  func acceptsEmptyBatch() throws {
    try store.commit(Batch())
    try store.commit(batch([event(1, 1)]))
    try store.commit(Batch())
    expect(try store.load(FamilyID(1)), StoredFamily(events: [event(1, 1)]))
  }

  func returnsAllFields() throws {
    let family = FamilyID(.max)
    let payloads: [[UInt8]] = [
      [], [0], Array(0...255 as ClosedRange<UInt8>), Array(repeating: 0, count: 100_000),
    ]
    let events = payloads.indices.map { index in
      StoredEvent(
        family: family, seq: UInt64(index) + 1, audience: Audience(rawValue: .max),
        device: DeviceID(.max), command: ID128(high: .max, low: UInt64(index)),
        at: Instant(milliseconds: .min + Int64(index)), payload: payloads[index])
    }
    for payload in payloads {
      var all = Batch()
      if payload.isEmpty { all.events = events }
      all.cursors = [
        StoredCursor(
          family: family, device: DeviceID(.max),
          cursor: Cursor(.account(PersonID(.max)), delivered: 4, read: 3))
      ]
      all.snapshots = [StoredSnapshot(family: family, seq: 4, payload: payload)]
      all.passcodeLocks = [StoredPasscodeLock(family: family, payload: payload)]
      try store.commit(all)
      expect(
        try store.load(family),
        StoredFamily(events: events, cursors: all.cursors, passcodeLock: all.passcodeLocks[0]))
      expect(try store.snapshot(of: family), all.snapshots[0])
    }
    let page = FoundPage(events: events, more: false)
    expect(try store.page(.max, Audience(rawValue: .max)), page)
    for event in events { expect(try store.result(of: event), event) }
  }

  func showsEachCommit() throws {
    for seq: UInt64 in 1...70 {
      var next = batch([event(1, seq)])
      next.cursors = [cursor(1, seq)]
      next.snapshots = [snapshot(1, seq)]
      next.passcodeLocks = [lock(1, UInt8(seq))]
      try store.commit(next)
      expect(
        try store.load(FamilyID(1), after: seq - 1),
        StoredFamily(
          events: next.events, cursors: next.cursors, passcodeLock: next.passcodeLocks[0]))
      expect(try store.snapshot(of: FamilyID(1)), snapshot(1, seq))
      let page = FoundPage(events: next.events, more: false)
      expect(try store.page(1, .family, after: seq - 1), page)
      expect(try store.result(of: event(1, seq)), event(1, seq))
    }
  }

  func keepsRecordsWhenReopened() throws {
    var all = batch((1...70).map { event(1, $0) })
    all.cursors = [cursor(1, 70)]
    all.snapshots = [snapshot(1, 64)]
    all.passcodeLocks = [lock(1, 1)]
    try store.commit(all)
    try reopen()
    expect(
      try store.load(FamilyID(1)),
      StoredFamily(events: all.events, cursors: all.cursors, passcodeLock: lock(1, 1)))
    expect(try store.snapshot(of: FamilyID(1)), snapshot(1, 64))
    for seq: UInt64 in [1, 70] { expect(try store.result(of: event(1, seq)), event(1, seq)) }
    expectConflict(batch([event(1, 70)]))
    try store.commit(batch([event(1, 71)]))
    try reopen()
    expect(try store.load(FamilyID(1), after: 69).events, [event(1, 70), event(1, 71)])
  }
}
