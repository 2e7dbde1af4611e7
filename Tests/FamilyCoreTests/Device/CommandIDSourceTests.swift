import FamilyModel
import Testing

@testable import FamilyCore

/// The times of a device's command ids.
@Suite struct CommandIDSourceTests {
  private let now = Instant(milliseconds: 1_795_262_400_000)
  private var ids = CommandIDSource(IDSource(seed: 1))

  private func id(_ time: Instant) -> CommandID {
    CommandID(high: UInt64(time.milliseconds) << 16, low: 1)
  }

  @Test("ids ascend, and exceed the statements that the device knows")
  mutating func ascending() {
    let first = ids.next(now: now)
    #expect(first.time == now)
    #expect(ids.next(now: now) > first)
    ids.observe(relayTime: now + .minutes(1))
    ids.observe(id(now + .minutes(5)))
    #expect(ids.next(now: now).time == now + .minutes(5) + .milliseconds(1))
    // Also on a device whose clock is a year behind.
    ids.observe(relayTime: now + .days(365))
    ids.observe(id(now + .days(365)))
    #expect(ids.next(now: now).time == now + .days(365) + .milliseconds(1))
  }

  @Test("T2: a statement far ahead moves no id beyond the relay's bound")
  mutating func pushed() {
    ids.observe(id(Instant(milliseconds: Limits.times.upperBound)))
    #expect(ids.next(now: now).time == now + Limits.idLead)
    // A relay that stated a false time is corrected by a later relay's refusal.
    ids.observe(relayTime: Instant(milliseconds: Limits.times.upperBound))
    #expect(ids.next(now: now).high >> 63 == 0)
    ids.learn(relayTime: now, now: now)
    #expect(ids.next(now: now).time == now + Limits.idLead)
    #expect(ids.next(now: now + .minutes(1)).time == now + .minutes(1) + Limits.idLead)
  }

  @Test("T2: a relay that states a time in the past makes no statement lose against a known one")
  mutating func past() {
    ids.observe(relayTime: now)
    ids.observe(id(now + .seconds(1)))
    ids.learn(relayTime: now - .days(1_800), now: now + .seconds(2))
    let first = ids.next(now: now + .seconds(2))
    #expect(first > id(now + .seconds(1)) && first.time <= now + .seconds(2))
    #expect(ids.next(now: now + .seconds(2)) > first)
  }

  @Test("T2: a relay that dated an event too late and runs behind soon permits the ids of a device")
  mutating func late() {
    ids.observe(relayTime: now + .days(1))
    let behind = Milliseconds.minutes(72)
    var refusals = 0
    var time = now
    while ids.next(now: time).time > time - behind + Limits.idLead {
      ids.learn(relayTime: time - behind, now: time)
      time = time + .minutes(1)
      refusals += 1
      guard refusals < 100 else { break }
    }
    #expect(refusals == 62)
  }

  @Test("T2: a device whose clock is ahead uses the relay's time until its clock is set back")
  mutating func ahead() {
    let wrong = now + .days(2_190)
    _ = ids.next(now: wrong)
    ids.learn(relayTime: now, now: wrong)
    let corrected = ids.next(now: wrong + .seconds(5))
    #expect(now...now + Limits.idLead + .milliseconds(1) ~= corrected.time)
    ids.clockSetBack()
    let later = ids.next(now: now + .minutes(11))
    #expect(later.time == now + .minutes(11) && later > corrected)
  }
}
