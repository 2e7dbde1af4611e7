import RelayPipeline
import RelayFixture
import FamilyModel
import RelayWire
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct ShardTests {
  @Test("families are spread evenly over the shards under any numbering", arguments: 1...16)
  func spread(_ shards: Int) {
    for step in [1, 2, 3, 5, 16, 1_000, 1 << 32, UInt64(shards)] {
      var found = [Int](repeating: 0, count: shards)
      for number in 1...UInt64(1_600) { found[FamilyID(number * step).shard(of: shards)] += 1 }
      #expect(
        found.allSatisfy { 80 * 16 / shards...120 * 16 / shards ~= $0 }, "step \(step): \(found)")
    }
  }

  @Test("one shard and four shards produce the same replies and events")
  func same() async throws {
    var outcomes: [(replies: Set<ReplyEnvelope>, texts: [[String]])] = []
    for shards in [1, 4] {
      let families = try await ManyFamilies(shards: shards)
      var count = 0
      try families.inOneBatch {
        for round in 0..<5 {
          for family in ManyFamilies.families {
            let id = CommandID(high: family, low: UInt64(round))
            try families.post("\(family).\(round)", in: family, id: id)
            try families.send(.acknowledge([Cursor(.family, delivered: 1)]), in: family)
            // A family that does not exist, and a repeated command.
            try families.send(.ping, in: family + 1_000)
            try families.post("copy", in: family, id: id)
            count += 3
          }
        }
      }
      let replies = try families.replies(count)
      let texts = try ManyFamilies.families.map { try families.texts(in: $0) }
      outcomes.append((Set(replies), texts))
      #expect(await families.fixture.service.counters.workerWakeups > 0 || shards == 1)
      try await families.fixture.stop()
      #expect(Set(replies).count == count)
      #expect(texts[1] == (0..<5).map { "2.\($0)" })
    }
    #expect(outcomes[0].replies == outcomes[1].replies)
    #expect(outcomes[0].texts == outcomes[1].texts)
  }

  @Test(
    "one family's requests keep their order even when some need the store")
  func order() async throws {
    // Most families are evicted.
    let families = try await ManyFamilies(shards: 4, maxFamilies: 8)
    let count = 12
    var asked: [UInt64: [UInt64]] = [:]
    try families.inOneBatch {
      for round in 0..<count {
        for family in ManyFamilies.families {
          asked[family, default: []].append(try families.post("\(round)", in: family))
          // A page contains all earlier events and no later one.
          guard round == count / 2 else { continue }
          try families.send(.fetch(.conversation(PersonID(3)), after: 0), in: family)
        }
      }
    }
    var accepted: [UInt64: [UInt64]] = [:]
    for reply in try families.replies((count + 1) * ManyFamilies.families.count) {
      let family = reply.device.family.rawValue
      switch reply.reply {
      case .accepted: accepted[family, default: []].append(reply.requestID)
      case .page(_, let events, _):
        let first = family == ManyFamilies.families.lowerBound ? 1 : 0
        #expect(events.count == first + count / 2 + 1)
      default: Issue.record("\(reply)")
      }
    }
    #expect(accepted == asked)
    #expect(await families.fixture.service.counters.workerWakeups > 0)
    for family in ManyFamilies.families.dropFirst() {
      #expect(try families.texts(in: family) == (0..<count).map { "\($0)" })
    }
    try await families.fixture.stop()
  }

  @Test("X2: an old command repeated within its own batch gets the same reply")
  func recall() async throws {
    let families = try await ManyFamilies(shards: 4)
    let id = CommandID(high: 1, low: 1)
    let count = 200
    try families.inOneBatch {
      try families.post("old", in: 2, id: id)
      for number in 0..<count {
        try families.post("\(number)", in: 2, id: CommandID(high: 2, low: UInt64(number)))
      }
      try families.post("old", in: 2, id: id)
    }
    let replies = try families.replies(count + 2).map(\.reply)
    #expect(replies.first == .accepted(id, seq: 2))
    #expect(replies.last == .accepted(id, seq: 2))
    #expect(await families.fixture.service.counters.resultLookups == 1)
    #expect(await families.fixture.service.counters.workerWakeups > 0)
    try await families.fixture.stop()
  }

  @Test("X2: result lookups for one member's old commands are rate limited")
  func recalls() async throws {
    let families = try await ManyFamilies(shards: 4)
    let (known, old) = (200, 400)
    for number in 0..<known {
      try families.post("\(number)", in: 2, id: CommandID(high: 2, low: UInt64(number)))
    }
    _ = try families.replies(known)
    for number in 0..<old {
      try families.post("old", in: 2, id: CommandID(high: 1, low: UInt64(number)))
    }
    let replies = try families.replies(old).map(\.reply)
    let accepted = replies.count { if case .accepted = $0 { true } else { false } }
    let waiting = replies.count {
      if case .refused(_, let problem) = $0 {
        problem.code == 502 && problem.retryAfter > .zero
      } else {
        false
      }
    }
    #expect((50..<200).contains(accepted))
    #expect(accepted + waiting == old)
    #expect(await families.fixture.service.counters.resultLookups == accepted)
    // The limit does not affect other families.
    try families.post("other", in: 3)
    guard case .accepted = try families.replies(1)[0].reply else {
      Issue.record("another family has to wait")
      return
    }
    try await families.fixture.stop()
  }

  @Test("X2: no shard's output is sent after its commit fails")
  func failure() async throws {
    let families = try await ManyFamilies(shards: 4)
    try families.attach()
    try families.inOneBatch {
      families.setMode(.failing)
      for family in ManyFamilies.families { try families.post("lost", in: family) }
    }
    #expect(await families.fixture.failure() != nil)
    #expect(await families.fixture.service.counters.workerWakeups > 0)
    #expect(try families.peer.receive(within: .milliseconds(300)) == nil)
    // Only events from before the failed commit arrive.
    while let event = try families.peer.event(within: .milliseconds(100)) {
      #expect(event.seq <= 2)
    }
    let again = try await RelayFixture(in: families.fixture.folder)
    let other = try again.peer(2, 30, families.keys)
    #expect(try other.texts().isEmpty)
    try await again.stop()
  }

  @Test("a request that names two families belongs to the one that the decoder uses")
  func twoFamilies() async throws {
    let families = try await ManyFamilies(shards: 4)
    var asked: [UInt64] = []
    try families.inOneBatch {
      for round in 0..<4 {
        for family in ManyFamilies.families.dropFirst() {
          let named = round % 2 == 0 ? nil : family % 24 + 1
          asked.append(
            try families.send(ManyFamilies.post("\(round)"), in: family, behind: named))
        }
      }
    }
    let replies = try families.replies(asked.count)
    #expect(Set(replies.map(\.requestID)) == Set(asked))
    for reply in replies {
      guard case .accepted = reply.reply else { Issue.record("\(reply)"); continue }
    }
    for family in ManyFamilies.families.dropFirst() {
      #expect(try families.texts(in: family).sorted() == ["0", "1", "2", "3"])
    }
    try await families.fixture.stop()
  }
}
