import FamilyModel
import RelayWire
import Testing

@testable import RelayPipeline

/// A herd: more families than the relay reads soon.
@Suite struct PacingTests {
  @Test("O8: attaches beyond the reads that may wait get a retry time, and count once")
  func herd() throws {
    let families = UInt64(3 * RelayLimits.waitingFamilies)
    let fixture = try ReadFixture(families: families)
    for family in 1...families { fixture.send(.attach([]), in: family) }
    fixture.turn()
    var retries: [UInt64: Milliseconds] = [:]
    for reply in fixture.takeReplies() {
      guard case .failed(let problem) = reply.reply else {
        Issue.record("\(reply)")
        continue
      }
      #expect(problem.code == Problem.overloaded.code)
      retries[reply.device.family.rawValue] = problem.retryAfter
    }
    let waiting = Int(families) - retries.count
    #expect((RelayLimits.waitingFamilies / 2...RelayLimits.waitingFamilies).contains(waiting))
    #expect(retries.values.allSatisfy { RetryPacer.window.contains($0) })
    #expect(fixture.pipeline.counters.pacedRequests == retries.count)
    fixture.read()
    #expect(fixture.takeReplies().count == waiting)
    // The refused devices follow their retry times, second by second.
    var seconds = 0
    while !retries.isEmpty, seconds < 31 {
      seconds += 1
      fixture.clock.advance(by: .seconds(1))
      for (family, after) in retries where after <= .seconds(seconds) {
        fixture.send(.attach([]), in: family)
        retries[family] = nil
      }
      fixture.turn()
      fixture.read()
      for reply in fixture.takeReplies() {
        guard case .attached = reply.reply else {
          Issue.record("\(reply)")
          continue
        }
      }
    }
    #expect(retries.isEmpty && fixture.store.loads.count == Int(families))
    // A refused attach has spent nothing of its device's or its family's rate limit: the whole burst
    // is left but for one attach.
    var afford = 0
    fixture.send(.attach([]), in: families)
    fixture.turn()
    afford += fixture.takeReplies().count { if case .attached = $0.reply { true } else { false } }
    #expect(afford == 1)
  }

  @Test("O8: senders without a pass, who may guess families, leave half of the room to others")
  func strangers() throws {
    let families = UInt64(2 * RelayLimits.waitingFamilies)
    let fixture = try ReadFixture(families: families)
    fixture.hasPasses = false
    for family in 1...families { fixture.send(.ping, in: family) }
    fixture.turn()
    #expect(fixture.takeReplies().count >= Int(families) - RelayLimits.waitingFamilies / 2)
    fixture.hasPasses = true
    for family in families - 99...families { fixture.send(.attach([]), in: family) }
    fixture.turn()
    #expect(fixture.takeReplies().isEmpty)
    fixture.read()
    #expect(fixture.takeReplies().count == 100 + RelayLimits.waitingFamilies / 2)
  }

  @Test("O8: requests of one family, and their bytes, that wait are bounded")
  func bounds() throws {
    let fixture = try ReadFixture(families: 2)
    let limit = RelayLimits.waitingRequestsPerFamily
    for _ in 0...limit { fixture.send(.ping, in: 1) }
    fixture.turn()
    #expect(fixture.takeReplies().count == 1)
    fixture.send(.ping, in: 2)
    fixture.turn()
    #expect(fixture.takeReplies().isEmpty)
    fixture.read()
    #expect(fixture.takeReplies().count == limit + 1)
    var waiting = WaitingRequests(shards: 1)
    var request = PendingRequest(
      route: [], key: [], isAdministrator: false, descriptor: nil,
      envelope: Envelope(
        device: DeviceAddress(family: FamilyID(1), device: DeviceID(1)), requestID: 1,
        request: .ping), bytes: RelayLimits.waitingBytes, receivedAt: Instant(milliseconds: 0))
    #expect(waiting.hasRoom(for: request))
    waiting.add(request)
    request.bytes = 1
    #expect(!waiting.hasRoom(for: request))
    _ = waiting.remove(FamilyID(1))
    #expect(waiting.hasRoom(for: request) && waiting.isEmpty)
  }

  @Test("O8: retry times are spread evenly over 1 to 30 seconds, at the speed of the loads")
  func spread() {
    let start = Instant(milliseconds: 1_000_000)
    var pacer = RetryPacer(rate: 1_000)
    let times = (0..<60_000).map { _ in pacer.nextRetry(now: start) }
    #expect(times.allSatisfy { RetryPacer.window.contains($0) })
    let bySecond = Dictionary(grouping: times) { $0.count / 1_000 }.mapValues(\.count)
    #expect(bySecond.values.max()! <= 3 * 1_000 && bySecond.count >= 29)
    // A few refusals cost little.
    pacer = RetryPacer(rate: 1_000)
    #expect((0..<100).allSatisfy { _ in pacer.nextRetry(now: start) < .seconds(2) })
    // A slow relay asks for more patience.
    pacer = RetryPacer(rate: 1_000)
    for number in 0..<200 { pacer.familyReceived(now: start + .milliseconds(number * 10)) }
    let slow = (0..<1_000).map { _ in pacer.nextRetry(now: start + .seconds(2)) }
    #expect(slow.max()! > .seconds(9))
  }

  @Test("O8: a batch alternates between families and other reads, and keeps what it has not read")
  func batches() {
    var queue = ReadQueue()
    #expect(queue.nextBatch().isEmpty && !queue.isBusy)
    let pages = 3 * RelayLimits.readsPerBatch.others
    for number in 0..<1_000 {
      queue.enqueue(.family(FamilyID(UInt64(number)), key: [], isTrusted: true))
    }
    for number in 0..<pages {
      queue.enqueue(
        .result(CommandID(high: 0, low: UInt64(number)), by: DeviceID(1), in: FamilyID(1)))
    }
    let first = queue.nextBatch()
    let (families, others) = RelayLimits.readsPerBatch
    #expect(first.count == families + others && first.prefix(2).count { $0.isFamily } == 1)
    #expect(queue.nextBatch().isEmpty, "one batch at a time")
    queue.batchEnded(unread: Array(first.dropFirst(10)))
    let second = queue.nextBatch()
    #expect(second.count == families + others)
    #expect(second.first { $0.isFamily }?.family == FamilyID(5))
  }
}
