import FamilyModel
import RelayWire
import SQLiteStore
import Testing

/// The stages of the pipeline in parallel: slices are handled, committed and sent at the same time.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PipelineTests {
  private static let rounds: UInt64 = 5

  /// Posts in all families, in more slices than one commit writes.
  ///
  /// - Returns: The commands.
  private func posts(_ families: ManyFamilies) throws -> Set<CommandID> {
    var asked: Set<CommandID> = []
    for round in 0..<Self.rounds {
      for family in ManyFamilies.families {
        let id = CommandID(high: family, low: round)
        try families.post("\(round)", in: family, id: id)
        asked.insert(id)
      }
    }
    return asked
  }

  /// The commands in the store.
  private func stored(_ families: ManyFamilies) throws -> Set<CommandID> {
    let path = families.fixture.folder.appendingPathComponent("relay.sqlite").path
    let store = try SQLiteEventStore(path: path)
    defer { store.close() }
    return Set(
      try ManyFamilies.families.flatMap { try store.load(FamilyID($0)).events.map(\.command) })
  }

  private func accepted(_ replies: [ReplyEnvelope]) -> [CommandID] {
    replies.compactMap { if case .accepted(let id, _) = $0.reply { id } else { nil } }
  }

  @Test("X2: sends all output of a commit and none of a later commit that fails")
  func second() async throws {
    let families = try await ManyFamilies(shards: 4, maxRequestsInFlight: 16)
    try families.attach()
    let commits = Commits(holding: 1)
    var asked: Set<CommandID> = []
    try families.inOneBatch {
      families.onCommit { commits.record($0) ? .failing : nil }
      asked = try posts(families)
    }
    // The first commit's output is sent during the second commit.
    #expect(commits.waitUntilHeld())
    let first = try #require(commits.batches.first)
    let answered = accepted(try families.replies(first.count))
    #expect(Set(answered) == Set(first.map(\.command)) && answered.count < asked.count)
    var heard = Set(first.filter { $0.family == FamilyID(1) }.map(\.seq))
    while !heard.isEmpty, let event = try families.peer.event() { heard.remove(event.seq) }
    #expect(heard.isEmpty)
    commits.release()
    #expect(await families.fixture.failure() != nil)
    #expect(try families.peer.receive(within: .milliseconds(200)) == nil)
    let last = first.last { $0.family == FamilyID(1) }?.seq ?? 2
    while let event = try families.peer.event(within: .milliseconds(100)) {
      #expect(event.seq <= last)
    }
    #expect(try stored(families).intersection(asked) == Set(answered))
  }

  @Test("X2: a shutdown during a commit still stores every received request")
  func shutdown() async throws {
    let families = try await ManyFamilies(shards: 4, maxRequestsInFlight: 16)
    let before = await families.fixture.service.counters.requests
    let commits = Commits(holding: 1)
    var asked: Set<CommandID> = []
    try families.inOneBatch {
      families.onCommit {
        _ = commits.record($0)
        return nil
      }
      asked = try posts(families)
    }
    #expect(commits.waitUntilHeld())
    let first = try #require(commits.batches.first)
    var answered = accepted(try families.replies(first.count))
    families.fixture.requestStop()
    commits.release()
    try await families.fixture.stop()
    while let reply = try families.peer.receive(within: .milliseconds(200)) {
      answered += accepted([reply])
    }
    let stored = try stored(families).intersection(asked)
    #expect(stored.isSuperset(of: answered) && Set(answered).count == answered.count)
    // The additional request is the one whose commit was delayed.
    #expect(await families.fixture.service.counters.requests - before == stored.count + 1)
  }

  /// Families whose next commit waits on the committer's thread while the socket thread runs.
  private func held(maxRequestsInFlight: Int? = nil) async throws -> (ManyFamilies, Commits) {
    let families = try await ManyFamilies(
      shards: 4, maxRequestsInFlight: maxRequestsInFlight, wakeThreshold: 1)
    let commits = Commits(holding: 0)
    families.onCommit {
      _ = commits.record($0)
      return nil
    }
    return (families, commits)
  }

  @Test("X2: a family's replies keep their order while many slices wait for one commit")
  func order() async throws {
    let (families, commits) = try await held()
    let before = await families.fixture.service.counters.requests
    let asked = try posts(families)
    #expect(commits.waitUntilHeld())
    while await families.fixture.service.counters.requests - before < asked.count {
      await Task.yield()
    }
    commits.release()
    let answered = accepted(try families.replies(asked.count))
    for family in ManyFamilies.families {
      #expect(answered.filter { $0.high == family }.map(\.low) == Array(0..<Self.rounds))
    }
    try await families.fixture.stop()
  }

  @Test("F3: a republish contains no event newer than its own time")
  func republished() async throws {
    let families = try await ManyFamilies(shards: 4, wakeThreshold: 1)
    try families.attach()
    try families.post("first", in: 1)
    #expect(try families.peer.event()?.seq == 2)
    let commits = Commits(holding: 0)
    families.onCommit {
      _ = commits.record($0)
      return nil
    }
    try families.post("held", in: 2)
    #expect(commits.waitUntilHeld())
    // The shard schedules a republish of the unacknowledged event. Nothing observable happens
    // before the commit.
    try await Task.sleep(for: .milliseconds(400))
    let before = await families.fixture.service.counters.requests
    try families.post("second", in: 1)
    while await families.fixture.service.counters.requests == before { await Task.yield() }
    commits.release()
    var heard: [UInt64] = []
    while heard.count(where: { $0 == 3 }) < 2, let event = try families.peer.event() {
      heard.append(event.seq)
    }
    // The second event is broadcast. The checks until then knew the first one only and republish it
    // alone; a later one knows the second.
    #expect(heard.last == 3 && heard.dropLast().contains(2) && Set(heard) == [2, 3])
    try await families.fixture.stop()
  }

  @Test("X2: at the limit of requests in flight, further requests wait in the socket")
  func most() async throws {
    let most = 16
    let (families, commits) = try await held(maxRequestsInFlight: most)
    let before = await families.fixture.service.counters.requests
    let asked = try posts(families)
    #expect(commits.waitUntilHeld())
    // Each read of the counters runs between two turns of the socket thread.
    for _ in 0..<200 {
      #expect(await families.fixture.service.counters.requests - before <= most)
      try await Task.sleep(nanoseconds: 1_000_000)
    }
    commits.release()
    #expect(Set(accepted(try families.replies(asked.count))) == asked)
    try await families.fixture.stop()
  }

  @Test(
    "X2: malformed requests are answered and do not delay honest ones",
    arguments: [[[7]], [[], [0xFF]]] as [[[UInt8]]])
  func flood(_ malformed: [[UInt8]]) async throws {
    let batch = 8
    let families = try await ManyFamilies(shards: 4, maxRequestsInFlight: batch)
    let count = 1_000
    var asked: [(id: UInt64, behind: Int)] = []
    try families.inOneBatch {
      for number in 0..<count {
        try families.peer.sendRaw(malformed)
        if number % 100 == 0 { asked.append((try families.post("\(number)", in: 2), number + 1)) }
      }
    }
    var (answered, refused) = ([] as [(id: UInt64, behind: Int)], 0)
    for reply in try families.replies(count + asked.count) {
      if reply.reply == .failed(.malformed) {
        refused += 1
      } else {
        answered.append((reply.requestID, refused))
      }
    }
    #expect(answered.map(\.id) == asked.map(\.id) && refused == count)
    // Refusals without a shard overtake other replies, but only by a few batches.
    for (one, before) in zip(answered, asked) { #expect(one.behind - before.behind <= 16 * batch) }
    #expect(await families.fixture.service.counters.malformed == count)
    try await families.fixture.stop()
  }

  @Test("X2: after a store failure the relay receives, stores and sends nothing")
  func stops() async throws {
    let families = try await ManyFamilies(shards: 4, maxRequestsInFlight: 64)
    let before = await families.fixture.service.counters.requests
    let (old, last) = (CommandID(high: 1, low: 0), CommandID(high: 1, low: 1))
    let commits = Commits()
    let count = 200
    try families.inOneBatch {
      families.onCommit { batch in
        _ = commits.record(batch)
        return batch.events.contains { $0.command == last } ? .failing : nil
      }
      try families.post("old", in: 2, id: old)
      for number in 0..<count { try families.post("\(number)", in: 2) }
      try families.post("last", in: 2, id: last)
      // Only the store knows this command's result, after a commit of the earlier output: that
      // commit fails.
      try families.post("old", in: 2, id: old)
      _ = try posts(families)
      // Requests without a durable effect are not answered either.
      for _ in 0..<count {
        try families.peer.sendRaw([[7]])
        try families.send(.fetch(.family, after: 0), in: 3)
      }
    }
    #expect(await families.fixture.failure() != nil)
    #expect(await families.fixture.service.counters.requests - before < 3 * count)
    #expect(commits.batches.last?.contains { $0.command == last } == true)
    var replies: [ReplyEnvelope] = []
    while let reply = try families.peer.receive(within: .milliseconds(200)) {
      replies.append(reply)
    }
    let answered = accepted(replies)
    #expect(answered.count == replies.count)
    #expect(try stored(families).isSuperset(of: answered))
  }
}
