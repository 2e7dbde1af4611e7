import FamilyModel
import RelayStore

extension Trial {
  func readsBesideCommits() throws {
    guard let reader = try store.openReader() else { return violate("no reader") }
    defer { reader.close() }
    let families = [FamilyID(1), FamilyID(2), FamilyID(3)]
    for seq: UInt64 in 1...140 {
      var next = batch([event(1, seq), event(2, seq)])
      next.cursors = [cursor(1, seq)]
      next.snapshots = [snapshot(1, seq)]
      next.passcodeLocks = [lock(1, UInt8(seq))]
      try store.commit(next)
      guard seq % 20 == 0 else { continue }
      reader.begin(store.positions(of: families))
      for family in families {
        expect(try reader.load(family, after: 0), try store.load(family))
        expect(try reader.snapshot(of: family), try store.snapshot(of: family))
      }
      let all = FoundPage(events: (1...seq).map { event(2, $0) }, more: false)
      expect(try reader.page(2, .family), all)
      for old in [1, seq] { expect(try reader.result(of: event(2, old)), event(2, old)) }
    }
  }

  /// All records of the log, in parts.
  private func records(limit: Int, events: Int) throws -> [LogRecord] {
    var (records, position): ([LogRecord], Int) = ([], 0)
    while position < events {
      let part = try store.log(after: position, limit: limit, bytes: 1 << 20)
      expect(part.newest, events)
      guard part.position > position else { throw StoreError.io("a part without events") }
      records += part.records
      position = part.position
    }
    return records
  }

  func replaysLog() throws {
    for seq: UInt64 in 1...130 {
      var next = batch([event(1, seq), event(2, seq, .conversation(PersonID(3)))])
      if seq == 70 { next.passcodeLocks = [lock(2, 1)] }
      try store.commit(next)
    }
    var last = Batch()
    last.passcodeLocks = [lock(1, 7), lock(2, 9)]
    try store.commit(last)
    for limit in [1, 7, 1_000] {
      var all = Batch()
      for record in try records(limit: limit, events: 260) {
        switch record {
        case .event(let event): all.events.append(event)
        case .passcodeLock(let lock): all.passcodeLocks.append(lock)
        case .damaged, .damagedLock: violate("a whole log has the damaged record \(record)")
        }
      }
      try withEmptyStore { copy in
        try copy.commit(all)
        for family in [FamilyID(1), FamilyID(2)] {
          expect(try copy.load(family), try store.load(family))
        }
      }
    }
  }

  func limitsPartsOfLog() throws {
    expect(try store.log(after: 0, limit: 9, bytes: 9), LogPart(position: 0, newest: 0))
    let events = (1...9).map { event(1, $0) }
    try store.commit(batch(events))
    let size = event(1, 1).payload.count
    for (limit, bytes, end) in [(4, 1 << 20, 4), (9, 2 * size, 2), (9, 2 * size + 1, 3)] {
      expect(
        try store.log(after: 0, limit: limit, bytes: bytes),
        LogPart(records: events[..<end].map { .event($0) }, position: end, newest: 9))
    }
    let end = LogPart(previous: .event(event(1, 9)), position: 9, newest: 9)
    expect(try store.log(after: 9, limit: 9, bytes: 1 << 20), end)
    expect(try store.log(after: 10, limit: 9, bytes: 1 << 20), LogPart(position: 10, newest: 9))
  }

  func shipsLocks() throws {
    var first = batch([event(1, 1), event(2, 1), event(1, 2)])
    first.passcodeLocks = [lock(1, 1), lock(2, 2)]
    try store.commit(first)
    expect(
      try store.log(after: 0, limit: 2, bytes: 1 << 20).records,
      [.event(event(1, 1)), .event(event(2, 1)), .passcodeLock(lock(2, 2))])
    expect(
      try store.log(after: 2, limit: 2, bytes: 1 << 20),
      LogPart(
        previous: .event(event(2, 1)), records: [.event(event(1, 2)), .passcodeLock(lock(1, 1))],
        position: 3, newest: 3))
  }

  func erases() throws {
    var events = (1...130).map { event(1, $0) }
    var all = batch(events)
    all.cursors = [cursor(1, 130)]
    try store.commit(all)
    var changes: [Int: StoredEvent] = [:]
    for number in [1, 64, 130] {
      events[number - 1].payload = number == 1 ? [] : Array(repeating: 7, count: 1_000)
      changes[number] = events[number - 1]
    }
    try store.replace(changes)
    try store.replace([:])
    expect(try store.load(FamilyID(1)), StoredFamily(events: events, cursors: all.cursors))
    expect(try store.page(1, .family), FoundPage(events: events, more: false))
    for event in changes.values { expect(try store.result(of: event), event) }
    if engine.abilities.contains(.log) {
      expect(try store.log(after: 0, limit: 200, bytes: 1 << 20).records, events.map { .event($0) })
    }
  }

  func refusesErasure() throws {
    let events = (1...3).map { event(1, $0) }
    try store.commit(batch(events))
    var (changed, moved) = (event(1, 1), event(1, 2))
    changed.payload = []
    moved.audience = .conversation(PersonID(3))
    for other in [event(1, 3), moved] {
      expectError(.conflict) { try store.replace([1: changed, 2: other]) }
    }
    expectError(.damaged) { try store.replace([1: changed, 9: changed]) }
    expect(try store.load(FamilyID(1)).events, events)
  }

  func verifiesInParts() throws {
    try store.commit(batch((1...20).map { event(1, $0) }))
    var (position, events) = (Int64?(0), [Int]())
    while let after = position, events.count < 20 {
      let part = try store.verify(after: after, limit: 7)
      expect(part.damage, [])
      events.append(part.events)
      position = part.position
    }
    expect(events, [7, 7, 6])
  }

  func admitsLack() throws {
    try store.commit(batch([event(1, 1)]))
    for ability in Engine.Ability.allCases where !engine.abilities.contains(ability) {
      switch ability {
      case .durability: break
      case .reader:
        expect(try store.openReader() == nil, true)
        expect(store.positions(of: [FamilyID(1)]).newest, [:])
      case .copies: expectError(.io) { _ = try store.copyPart(to: copyPath, room: .max) }
      case .log: expectError(.io) { _ = try store.log(after: 0, limit: 1, bytes: 1) }
      case .erasure: expectError(.io) { try store.replace([1: event(1, 1)]) }
      case .verification:
        expect(try store.verify(after: 0, limit: 1), Verification(position: nil))
      }
    }
  }
}
