import FamilyModel
import RelayStore

private let talk = Audience.conversation(PersonID(3))

extension Trial {
  func loadsTails() throws {
    var all = batch((1...5).map { event(1, $0) })
    all.cursors = [cursor(1, 5)]
    all.passcodeLocks = [lock(1, 1)]
    try store.commit(all)
    for seq: UInt64 in 0...5 {
      expect(
        try store.load(FamilyID(1), after: seq),
        StoredFamily(
          events: Array(all.events.dropFirst(Int(seq))), cursors: all.cursors,
          passcodeLock: lock(1, 1)))
    }
  }

  func findsLostEnd() throws {
    try store.commit(batch([event(1, 1), event(1, 2)]))
    expectError(.damaged) { _ = try store.load(FamilyID(1), after: 3) }
    expectError(.damaged) { _ = try store.load(FamilyID(2), after: 1) }
    var ahead = Batch()
    ahead.cursors = [cursor(1, 3), cursor(3, 1)]
    try store.commit(ahead)
    expectError(.damaged) { _ = try store.load(FamilyID(1)) }
    expectError(.damaged) { _ = try store.load(FamilyID(3)) }
    try store.commit(batch([event(1, 3)]))
    expect(try store.load(FamilyID(1)).events.count, 3)
  }

  /// Commits eleven events. The even ones are of a conversation, and as long as one another but for
  /// the last one.
  private func commitConversation() throws {
    try store.commit(batch((1...11).map { event(1, $0, $0 % 2 == 0 ? talk : .family) }))
  }

  private func page(_ seqs: [UInt64], more: Bool = false) -> FoundPage {
    FoundPage(events: seqs.map { event(1, $0, talk) }, more: more)
  }

  func limitsPages() throws {
    try commitConversation()
    expect(try store.page(1, talk, after: 2, limit: 2), page([4, 6], more: true))
    expect(try store.page(1, talk, after: 6, limit: 2), page([8, 10]))
    expect(try store.page(1, talk, limit: 4), page([2, 4, 6, 8], more: true))
    expect(try store.page(1, talk, limit: 5), page([2, 4, 6, 8, 10]))
    expect(try store.page(1, talk, after: 9, limit: 1), page([10]))
    for after: UInt64 in [10, 11, 12, .max] {
      expect(try store.page(1, talk, after: after), page([]))
    }
  }

  func limitsBytesOfPages() throws {
    try commitConversation()
    let size = event(1, 2).payload.count
    expect(try store.page(1, talk, bytes: 0), page([2], more: true))
    expect(try store.page(1, talk, bytes: 2 * size - 1), page([2], more: true))
    expect(try store.page(1, talk, bytes: 2 * size), page([2, 4], more: true))
    expect(try store.page(1, talk, after: 4, bytes: 2 * size), page([6, 8], more: true))
    expect(try store.page(1, talk, after: 8, bytes: 1), page([10]))
  }

  func endsPages() throws {
    try commitConversation()
    for last: UInt64 in [8, 9] {
      expect(try store.page(1, talk, after: 4, through: last), page([6, 8]))
    }
    expect(try store.page(1, talk, after: 4, through: 8, limit: 1), page([6], more: true))
    expect(try store.page(1, talk, after: 4, through: 6, limit: 1), page([6]))
    for last: UInt64 in [0, 7, 8, 9] {
      expect(try store.page(1, talk, after: 8, through: last), page([]))
    }
  }

  func readsLongHistory() throws {
    try store.commit(batch((1...1_000).map { event(1, $0, $0 % 3 == 0 ? talk : .family) }))
    for after: UInt64 in [0, 1, 62, 63, 64, 65, 500, 995, 999, 1_000] {
      let later = (1...1_000 as ClosedRange<UInt64>).filter { $0 % 3 == 0 && $0 > after }
      let found = page(Array(later.prefix(50)), more: later.count > 50)
      expect(try store.page(1, talk, after: after, limit: 50), found)
    }
  }

  func findsCommands() throws {
    // Several commits, so that an index is made in parts.
    for start: UInt64 in stride(from: 1, to: 1_000, by: 100) {
      try store.commit(batch((start..<start + 100).map { event(1, $0) } + [event(start + 1, 1)]))
    }
    for seq: UInt64 in [1, 7, 64, 65, 128, 960, 961, 1_000] {
      expect(try store.result(of: event(1, seq)), event(1, seq))
      expect(try store.event(of: event(1, seq).command, by: DeviceID(1), in: FamilyID(2)), nil)
    }
    expect(try store.result(of: event(1, 1_001)), nil)
    expect(try store.result(of: event(2, 1)), event(2, 1))
  }

  func separatesDevices() throws {
    let events = (1...200 as ClosedRange<UInt64>).map { seq in
      var next = event(1, seq)
      next.device = DeviceID(UInt32(1 + seq % 2))
      next.command = ID128(high: 5, low: (seq + 1) / 2)
      return next
    }
    try store.commit(batch(events))
    for event in events {
      expect(try store.result(of: event), event)
      expect(try store.event(of: event.command, by: DeviceID(3), in: event.family), nil)
    }
  }
}
