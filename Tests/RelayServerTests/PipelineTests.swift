import FamilyModel
import RelayWire
import SQLiteStore
import Testing

/// Batches that are decided, stored and sent at the same time, slice by slice.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PipelineTests {
  private static let rounds: UInt64 = 5

  /// Posts in all families, more than one commit takes.
  private func posts(_ street: ManyFamilies) throws -> Set<CommandID> {
    var asked: Set<CommandID> = []
    for round in 0..<Self.rounds {
      for family in ManyFamilies.families {
        let id = CommandID(high: family, low: round)
        try street.post("\(round)", in: family, id: id)
        asked.insert(id)
      }
    }
    return asked
  }

  /// The commands that are on the disk.
  private func stored(_ street: ManyFamilies) throws -> Set<CommandID> {
    let path = street.rig.folder.appendingPathComponent("relay.sqlite").path
    let store = try SQLiteEventStore(path: path)
    defer { store.close() }
    return Set(
      try ManyFamilies.families.flatMap { try store.load(FamilyID($0)).events.map(\.command) })
  }

  private func accepted(_ replies: [ReplyEnvelope]) -> [CommandID] {
    replies.compactMap { if case .accepted(let id, _) = $0.reply { id } else { nil } }
  }

  @Test("X2: of a commit that fails behind another nothing is said, and all of the one before it")
  func second() async throws {
    let street = try await ManyFamilies(shards: 4, maxRequestsInFlight: 16)
    try street.attach()
    let commits = Commits(holding: 1)
    var asked: Set<CommandID> = []
    try street.atOnce {
      street.onCommit { commits.isHeld($0) ? .failing : nil }
      asked = try posts(street)
    }
    // The first commit is answered and broadcast while the second is on its way.
    #expect(commits.waitUntilHeld())
    let first = try #require(commits.batches.first)
    let answered = accepted(try street.replies(first.count))
    #expect(Set(answered) == Set(first.map(\.command)) && answered.count < asked.count)
    var heard = Set(first.filter { $0.family == FamilyID(1) }.map(\.seq))
    while !heard.isEmpty, let event = try street.peer.event() { heard.remove(event.seq) }
    #expect(heard.isEmpty)
    commits.letGo()
    #expect(await street.rig.failure() != nil)
    #expect(try street.peer.receive(within: 200) == nil)
    let last = first.last { $0.family == FamilyID(1) }?.seq ?? 2
    while let event = try street.peer.event(within: 100) { #expect(event.seq <= last) }
    #expect(try stored(street).intersection(asked) == Set(answered))
  }

  @Test("X2: a relay that is told to stop while a commit is on its way stores all that it took")
  func shutdown() async throws {
    let street = try await ManyFamilies(shards: 4, maxRequestsInFlight: 16)
    let before = await street.rig.service.counters.requests
    let commits = Commits(holding: 1)
    var asked: Set<CommandID> = []
    try street.atOnce {
      street.onCommit {
        _ = commits.isHeld($0)
        return nil
      }
      asked = try posts(street)
    }
    #expect(commits.waitUntilHeld())
    let first = try #require(commits.batches.first)
    var answered = accepted(try street.replies(first.count))
    street.rig.askToStop()
    commits.letGo()
    try await street.rig.stop()
    while let reply = try street.peer.receive(within: 200) { answered += accepted([reply]) }
    let stored = try stored(street).intersection(asked)
    #expect(stored.isSuperset(of: answered) && Set(answered).count == answered.count)
    // One more was what held the others back.
    #expect(await street.rig.service.counters.requests - before == stored.count + 1)
  }

  /// A street whose next commit waits, on its own thread: the sockets go on.
  private func held(maxRequestsInFlight: Int? = nil) async throws -> (ManyFamilies, Commits) {
    let street = try await ManyFamilies(shards: 4, maxRequestsInFlight: maxRequestsInFlight, wakeThreshold: 1)
    let commits = Commits(holding: 0)
    street.onCommit {
      _ = commits.isHeld($0)
      return nil
    }
    return (street, commits)
  }

  @Test("X2: what is said in a family keeps its order, where many slices wait for one commit")
  func order() async throws {
    let (street, commits) = try await held()
    let before = await street.rig.service.counters.requests
    let asked = try posts(street)
    #expect(commits.waitUntilHeld())
    while await street.rig.service.counters.requests - before < asked.count { await Task.yield() }
    commits.letGo()
    let answered = accepted(try street.replies(asked.count))
    for family in ManyFamilies.families {
      #expect(answered.filter { $0.high == family }.map(\.low) == Array(0..<Self.rounds))
    }
    try await street.rig.stop()
  }

  @Test("F3: what is published again is what was decided by then, and nothing that came since")
  func republished() async throws {
    let street = try await ManyFamilies(shards: 4, wakeThreshold: 1)
    try street.attach()
    try street.post("first", in: 1)
    #expect(try street.peer.event()?.seq == 2)
    let commits = Commits(holding: 0)
    street.onCommit {
      _ = commits.isHeld($0)
      return nil
    }
    try street.post("held", in: 2)
    #expect(commits.waitUntilHeld())
    // Meanwhile nobody acknowledges the first, and so it is to be published again, after the commit.
    try await Task.sleep(for: .milliseconds(400))
    let before = await street.rig.service.counters.requests
    try street.post("second", in: 1)
    while await street.rig.service.counters.requests == before { await Task.yield() }
    commits.letGo()
    var heard: [UInt64] = []
    while heard.count < 6, let event = try street.peer.event() { heard.append(event.seq) }
    // The first again, the second by itself, and then both again and again, one after the other.
    #expect(heard.count == 6 && !zip(heard, heard.dropFirst()).contains { $0 == (3, 3) })
    try await street.rig.stop()
  }

  @Test("X2: while as many requests are on their way as may be, the others wait in the socket")
  func most() async throws {
    let most = 16
    let (street, commits) = try await held(maxRequestsInFlight: most)
    let before = await street.rig.service.counters.requests
    let asked = try posts(street)
    #expect(commits.waitUntilHeld())
    // Each look lets the sockets have their turn before the next one.
    for _ in 0..<200 {
      #expect(await street.rig.service.counters.requests - before <= most)
      try await Task.sleep(nanoseconds: 1_000_000)
    }
    commits.letGo()
    #expect(Set(accepted(try street.replies(asked.count))) == asked)
    try await street.rig.stop()
  }

  @Test(
    "X2: what cannot be read is answered, and keeps nobody waiting who is honest",
    arguments: [[[7]], [[], [0xFF]]] as [[[UInt8]]])
  func flood(_ malformed: [[UInt8]]) async throws {
    let batch = 8
    let street = try await ManyFamilies(shards: 4, maxRequestsInFlight: batch)
    let count = 1_000
    var asked: [(id: UInt64, behind: Int)] = []
    try street.atOnce {
      for number in 0..<count {
        try street.peer.sendRaw(malformed)
        if number % 100 == 0 { asked.append((try street.post("\(number)", in: 2), number + 1)) }
      }
    }
    var (answered, refused) = ([] as [(id: UInt64, behind: Int)], 0)
    for reply in try street.replies(count + asked.count) {
      if reply.reply == .failed(.malformed) {
        refused += 1
      } else {
        answered.append((reply.requestID, refused))
      }
    }
    #expect(answered.map(\.id) == asked.map(\.id) && refused == count)
    // What is refused unread waits for nothing, but no more of it than a few batches is kept.
    for (one, before) in zip(answered, asked) { #expect(one.behind - before.behind <= 16 * batch) }
    #expect(await street.rig.service.counters.malformed == count)
    try await street.rig.stop()
  }

  @Test("X2: a relay whose store has failed takes, stores and says nothing more")
  func stops() async throws {
    let street = try await ManyFamilies(shards: 4, maxRequestsInFlight: 64)
    let before = await street.rig.service.counters.requests
    let (old, last) = (CommandID(high: 1, low: 0), CommandID(high: 1, low: 1))
    let commits = Commits()
    let count = 200
    try street.atOnce {
      street.onCommit { batch in
        _ = commits.isHeld(batch)
        return batch.events.contains { $0.command == last } ? .failing : nil
      }
      try street.post("old", in: 2, id: old)
      for number in 0..<count { try street.post("\(number)", in: 2) }
      try street.post("last", in: 2, id: last)
      // What became of it only the store can tell, when it has what came before: that commit fails.
      try street.post("old", in: 2, id: old)
      _ = try posts(street)
      // Nor are these answered, which lead to nothing that is stored.
      for _ in 0..<count {
        try street.peer.sendRaw([[7]])
        try street.send(.fetch(.family, after: 0), in: 3)
      }
    }
    #expect(await street.rig.failure() != nil)
    #expect(await street.rig.service.counters.requests - before < 3 * count)
    #expect(commits.batches.last?.contains { $0.command == last } == true)
    var replies: [ReplyEnvelope] = []
    while let reply = try street.peer.receive(within: 200) { replies.append(reply) }
    let answered = accepted(replies)
    #expect(answered.count == replies.count)
    #expect(try stored(street).isSuperset(of: answered))
  }
}
