import RelayServer
import RelayFixture
import FamilyModel
import RelayWire
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct ShardTests {
  @Test("families are spread over the lanes, however they are numbered", arguments: 1...16)
  func spread(_ shards: Int) {
    for step in [1, 2, 3, 5, 16, 1_000, 1 << 32, UInt64(shards)] {
      var found = [Int](repeating: 0, count: shards)
      for number in 1...UInt64(1_600) { found[FamilyID(number * step).shard(of: shards)] += 1 }
      #expect(
        found.allSatisfy { 80 * 16 / shards...120 * 16 / shards ~= $0 }, "step \(step): \(found)")
    }
  }

  @Test("one lane and four give the same replies and the same events, of a batch of many families")
  func same() async throws {
    var outcomes: [(replies: Set<ReplyEnvelope>, texts: [[String]])] = []
    for shards in [1, 4] {
      let street = try await ManyFamilies(shards: shards)
      var count = 0
      try street.atOnce {
        for round in 0..<5 {
          for family in ManyFamilies.families {
            let id = CommandID(high: family, low: UInt64(round))
            try street.post("\(family).\(round)", in: family, id: id)
            try street.send(.acknowledge([Cursor(.family, delivered: 1)]), in: family)
            // Nobody's family, and a copy.
            try street.send(.ping, in: family + 1_000)
            try street.post("copy", in: family, id: id)
            count += 3
          }
        }
      }
      let replies = try street.replies(count)
      let texts = try ManyFamilies.families.map { try street.texts(in: $0) }
      outcomes.append((Set(replies), texts))
      #expect(await street.rig.service.counters.workerWakeups > 0 || shards == 1)
      try await street.rig.stop()
      #expect(Set(replies).count == count)
      #expect(texts[1] == (0..<5).map { "2.\($0)" })
    }
    #expect(outcomes[0].replies == outcomes[1].replies)
    #expect(outcomes[0].texts == outcomes[1].texts)
  }

  @Test(
    "the requests of a connection for one family keep their order, also where the store is asked")
  func order() async throws {
    // Most families are not in memory.
    let street = try await ManyFamilies(shards: 4, maxFamilies: 8)
    let count = 12
    var asked: [UInt64: [UInt64]] = [:]
    try street.atOnce {
      for round in 0..<count {
        for family in ManyFamilies.families {
          asked[family, default: []].append(try street.post("\(round)", in: family))
          // A page waits for the store, and has what came before it, and nothing that came after.
          guard round == count / 2 else { continue }
          try street.send(.fetch(.conversation(PersonID(3)), after: 0), in: family)
        }
      }
    }
    var accepted: [UInt64: [UInt64]] = [:]
    for reply in try street.replies((count + 1) * ManyFamilies.families.count) {
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
    #expect(await street.rig.service.counters.workerWakeups > 0)
    for family in ManyFamilies.families.dropFirst() {
      #expect(try street.texts(in: family) == (0..<count).map { "\($0)" })
    }
    try await street.rig.stop()
  }

  @Test("X2: an old command that comes again in the batch in which it came gets the same")
  func recall() async throws {
    let street = try await ManyFamilies(shards: 4)
    let id = CommandID(high: 1, low: 1)
    let count = 200
    try street.atOnce {
      try street.post("old", in: 2, id: id)
      for number in 0..<count {
        try street.post("\(number)", in: 2, id: CommandID(high: 2, low: UInt64(number)))
      }
      try street.post("old", in: 2, id: id)
    }
    let replies = try street.replies(count + 2).map(\.reply)
    #expect(replies.first == .accepted(id, seq: 2))
    #expect(replies.last == .accepted(id, seq: 2))
    #expect(await street.rig.service.counters.resultLookups == 1)
    #expect(await street.rig.service.counters.workerWakeups > 0)
    try await street.rig.stop()
  }

  @Test("X2: a member whose commands are all old makes the relay read its history only so often")
  func recalls() async throws {
    let street = try await ManyFamilies(shards: 4)
    let (known, old) = (200, 400)
    for number in 0..<known {
      try street.post("\(number)", in: 2, id: CommandID(high: 2, low: UInt64(number)))
    }
    _ = try street.replies(known)
    for number in 0..<old {
      try street.post("old", in: 2, id: CommandID(high: 1, low: UInt64(number)))
    }
    let replies = try street.replies(old).map(\.reply)
    let accepted = replies.count { if case .accepted = $0 { true } else { false } }
    let waiting = replies.count {
      if case .refused(_, let problem) = $0 {
        problem.code == 502 && problem.retryAfter > 0
      } else {
        false
      }
    }
    #expect((50..<200).contains(accepted))
    #expect(accepted + waiting == old)
    #expect(await street.rig.service.counters.resultLookups == accepted)
    // Whom it concerns only.
    try street.post("other", in: 3)
    guard case .accepted = try street.replies(1)[0].reply else {
      Issue.record("another family has to wait")
      return
    }
    try await street.rig.stop()
  }

  @Test("X2: of a batch that the store does not take nothing is said, whatever lane it is of")
  func failure() async throws {
    let street = try await ManyFamilies(shards: 4)
    try street.attach()
    try street.atOnce {
      street.set(.failing)
      for family in ManyFamilies.families { try street.post("lost", in: family) }
    }
    #expect(await street.rig.failure() != nil)
    #expect(await street.rig.service.counters.workerWakeups > 0)
    #expect(try street.peer.receive(within: 300) == nil)
    // What is heard is what came before.
    while let event = try street.peer.event(within: 100) { #expect(event.seq <= 2) }
    let again = try await RelayFixture(in: street.rig.folder)
    let other = try again.peer(2, 30, street.keys)
    #expect(try other.texts().isEmpty)
    try await again.stop()
  }

  @Test("a request that names two families belongs to the one that its reader finds")
  func twoFamilies() async throws {
    let street = try await ManyFamilies(shards: 4)
    var asked: [UInt64] = []
    try street.atOnce {
      for round in 0..<4 {
        for family in ManyFamilies.families.dropFirst() {
          let named = round % 2 == 0 ? nil : family % 24 + 1
          asked.append(
            try street.send(ManyFamilies.post("\(round)"), in: family, behind: named))
        }
      }
    }
    let replies = try street.replies(asked.count)
    #expect(Set(replies.map(\.requestID)) == Set(asked))
    for reply in replies {
      guard case .accepted = reply.reply else { Issue.record("\(reply)"); continue }
    }
    for family in ManyFamilies.families.dropFirst() {
      #expect(try street.texts(in: family).sorted() == ["0", "1", "2", "3"])
    }
    try await street.rig.stop()
  }
}
