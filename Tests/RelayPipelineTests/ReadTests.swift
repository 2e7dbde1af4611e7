import DequeModule
import FamilyCore
import FamilyModel
import RelayWire
import Testing

@testable import RelayPipeline

/// Reads beside the work: the requests that need one wait, and all others are served.
@Suite struct ReadTests {
  private func problem(_ reply: Reply) -> Problem? {
    switch reply {
    case .failed(let problem), .refused(_, let problem): problem
    default: nil
    }
  }

  @Test("O8: a family's requests wait for its load in their order; others are served meanwhile")
  func order() throws {
    let fixture = try ReadFixture(families: 3)
    fixture.send(.ping, in: 1)
    fixture.turn()
    fixture.read()
    #expect(fixture.takeReplies().count == 1)
    var waiting: [UInt64] = []
    waiting.append(fixture.post(1, in: 2))
    waiting.append(fixture.send(.ping, in: 2))
    waiting.append(fixture.post(2, in: 2))
    fixture.turn()
    // The load is under way.
    for _ in 0..<100 {
      let ping = fixture.send(.ping, in: 1)
      fixture.turn()
      #expect(fixture.takeReplies().map(\.requestID) == [ping])
    }
    waiting.append(fixture.post(3, in: 2))
    fixture.turn()
    #expect(fixture.takeReplies().isEmpty && fixture.pipeline.inFlight.requests == 0)
    fixture.read()
    let replies = fixture.takeReplies()
    #expect(replies.map(\.requestID) == waiting)
    let seqs = replies.compactMap { if case .accepted(_, let seq) = $0.reply { seq } else { nil } }
    #expect(seqs == [2, 3, 4])
    #expect(fixture.store.loads == [FamilyID(1), FamilyID(2)])
  }

  @Test("O8: many requests of a family cause one load, and one batch loads many families")
  func once() throws {
    let fixture = try ReadFixture(families: 200)
    for _ in 0..<3 { for family in 1...UInt64(200) { fixture.send(.attach([]), in: family) } }
    fixture.turn()
    var batches = 0
    while fixture.pipeline.reads.isBusy, batches < 100 {
      fixture.pipeline.performReads()
      fixture.turn()
      batches += 1
    }
    #expect(batches == (200 + 63) / RelayLimits.readsPerBatch.families)
    #expect(fixture.takeReplies().count { problem($0.reply) == nil } == 600)
    #expect(fixture.store.loads.count == 200 && Set(fixture.store.loads).count == 200)
  }

  @Test("O8: a damaged family in the middle of a batch is refused alone, with all its requests")
  func damage() throws {
    let fixture = try ReadFixture(families: 9)
    fixture.store.damaged = [FamilyID(5)]
    for family in 1...UInt64(9) {
      fixture.send(.attach([]), in: family)
      fixture.post(family, in: family)
    }
    fixture.turn()
    fixture.read()
    for reply in fixture.takeReplies() {
      let isHit = reply.device.family == FamilyID(5)
      #expect((problem(reply.reply) == .storeDamaged) == isHit)
    }
    #expect(fixture.pipeline.counters.damagedFamilies == 1 && fixture.pipeline.failure == nil)
    // The family is served again after its records are repaired and a delay.
    fixture.store.damaged = []
    fixture.clock.advance(by: .seconds(2))
    fixture.post(50, in: 5)
    fixture.turn()
    fixture.read()
    #expect(fixture.takeReplies().map { problem($0.reply) } == [nil])
  }

  @Test("O8: a page has every event that was durable at its request, and no later one")
  func page() throws {
    let fixture = try ReadFixture(families: 1)
    for id in 1...UInt64(3) { fixture.post(id, in: 1) }
    let page = fixture.send(.fetch(ReadFixture.conversation, after: 0), in: 1)
    fixture.post(4, in: 1)
    fixture.turn()
    fixture.pipeline.performReads()
    fixture.turn()
    // The family is loaded, and the page is being read.
    fixture.post(5, in: 1)
    fixture.turn()
    fixture.read()
    let replies = fixture.takeReplies()
    #expect(replies.count == 6)
    guard case .page(_, let events, _)? = replies.first(where: { $0.requestID == page })?.reply
    else {
      Issue.record("no page")
      return
    }
    #expect(events.map(\.command.low) == [1, 2, 3])
  }

  @Test("O8: a family that is evicted while an old result is read is loaded again")
  func eviction() throws {
    let fixture = try ReadFixture(families: 1)
    for id in 1...UInt64(8) { fixture.post(id, in: 1) }
    fixture.turn()
    fixture.read()
    _ = fixture.takeReplies()
    // Only the store has the first result.
    let repeated = fixture.post(1, in: 1)
    let next = fixture.post(9, in: 1)
    fixture.turn()
    fixture.evictAll()
    fixture.read()
    let replies = fixture.takeReplies()
    #expect(replies.map(\.requestID) == [repeated, next])
    #expect(
      replies.map(\.reply) == [
        .accepted(CommandID(high: 0, low: 1), seq: 2),
        .accepted(CommandID(high: 0, low: 9), seq: 10),
      ])
    #expect(fixture.pipeline.counters.resultLookups == 1 && fixture.store.loads.count == 2)
  }

  @Test("O8: a cursor that is written while its family is read is not lost")
  func cursors() throws {
    let fixture = try ReadFixture(families: 1)
    for id in 1...UInt64(3) { fixture.post(id, in: 1) }
    fixture.send(.acknowledge([Cursor(ReadFixture.conversation, delivered: 4)]), in: 1)
    fixture.turn()
    fixture.read()
    fixture.evictAll()
    fixture.send(.ping, in: 1)
    fixture.turn()
    // The store is read before the cursor is written, and the family is installed after it.
    fixture.pipeline.performReads()
    fixture.clock.advance(by: .seconds(11))
    fixture.pipeline.withShards { access in
      access.forEachShard { shard in
        shard.output.cursors += shard.cursors.removeDue(eventCount: 0, now: fixture.clock.now)
      }
    }
    fixture.turn()
    fixture.read()
    var lagging: [RelayMachine.Effect] = []
    fixture.pipeline.forEachMachine { machine in
      let sender = RelayMachine.Sender(
        address: DeviceAddress(family: FamilyID(1), device: ReadFixture.device),
        key: ReadFixture.key, isAdministrator: false, id: RequestID(1))
      if machine.holds(FamilyID(1)) {
        // An older acknowledgement changes nothing.
        machine.handle(
          .acknowledge([Cursor(ReadFixture.conversation, delivered: 3)]), from: sender,
          now: fixture.clock.now, into: &lagging)
      }
    }
    #expect(fixture.holds(1) && lagging.isEmpty)
  }

  @Test("O4: a clock set back while a request waits for a read postpones no republish")
  func clockSetBack() throws {
    let fixture = try ReadFixture(families: 1)
    fixture.send(.attach([]), in: 1)
    fixture.post(1, in: 1)
    fixture.turn()
    fixture.clock.advance(by: .hours(-1))
    fixture.turn()
    fixture.read()
    #expect(fixture.takeReplies().count == 2)
    // The device acknowledges nothing.
    let broadcasts = fixture.broadcasts
    for _ in 0..<8 {
      fixture.clock.advance(by: .seconds(1))
      fixture.turn()
      fixture.read()
    }
    #expect(fixture.broadcasts > broadcasts)
  }

  @Test("O4, O8: a shard with many unread results requests no further republishes")
  func lag() throws {
    let fixture = try ReadFixture(families: 1, shards: 1)
    fixture.send(.attach([]), in: 1)
    fixture.turn()
    fixture.read()
    for id in 1...UInt64(3) { fixture.post(id, in: 1) }
    fixture.turn()
    fixture.read()
    fixture.turn()
    let republish = StoreRead.Republish(
      family: FamilyID(1), generation: 1, audience: ReadFixture.conversation, seq: 2)
    let event = Event(
      seq: 2, previous: 1, audience: ReadFixture.conversation, command: CommandID(high: 0, low: 1),
      device: ReadFixture.device, at: fixture.clock.now, body: .beat)
    let later = fixture.clock.now + .seconds(2)
    let isDone = fixture.pipeline.shards.ifAtRest { access in
      access.withShard(of: FamilyID(1)) { shard in
        let count = RelayLimits.waitingResults + 1
        shard.completions = Deque(repeating: .republish(republish, event), count: count)
        shard.runTimers(now: later)
        #expect(shard.output.reads.isEmpty && shard.deadline == nil)
        shard.completions.removeFirst()
        shard.runTimers(now: later)
        #expect(!shard.output.reads.isEmpty)
        shard.completions = []
      }
      return true
    }
    #expect(isDone)
  }

  @Test("O8: a shutdown during a load handles every received request")
  func shutdown() throws {
    let fixture = try ReadFixture(families: 40)
    for family in 1...UInt64(40) { fixture.post(family, in: family) }
    fixture.pipeline.drainRequests()
    #expect(fixture.takeReplies().isEmpty)
    fixture.pipeline.finish()
    #expect(fixture.takeReplies().count == 40 && fixture.pipeline.failure == nil)
  }

  @Test("O8: a subscription reads no family, and only a key that has attached gets an inbox")
  func subscription() throws {
    let fixture = try ReadFixture(families: 1)
    func subscribe(to topic: [UInt8]) -> Inbox? {
      var inbox: Inbox?
      fixture.pipeline.withShards {
        inbox = fixture.pipeline.subscribe(to: topic, key: ReadFixture.key, $0)
      }
      return inbox
    }
    #expect(subscribe(to: [0, 0, 0]) == nil && fixture.store.loads.isEmpty)
    fixture.send(.attach([]), in: 1)
    fixture.turn()
    fixture.read()
    let inbox = try #require(fixture.takeReplies().last?.inbox)
    #expect(subscribe(to: inbox.subscription) == inbox && fixture.store.loads.count == 1)
  }
}
