import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Beats of guardians' devices, and devices from which a relay withholds events.
@Suite struct BeatTests {
  private static let emily = SignedFamily.emily
  private static let day = Milliseconds.days(1) + Timing.beatSpread + .minutes(1)

  private func beats(_ home: SignedFamily) -> Int {
    home.count { if case .beat = $0 { true } else { false } }
  }

  @Test("T5: a silent family stores one beat a day, whichever guardian's devices are on")
  func daily() {
    var home = SignedFamily()
    home.wait(.days(1) - .minutes(1))
    #expect(beats(home) == 0)
    home.wait(Timing.beatSpread + .minutes(2))
    #expect(beats(home) == 1)
    home.disconnect(1)
    home.wait(Self.day)
    #expect(beats(home) == 2)
    #expect(home.log.last?.device == DeviceID(2) && home.problems == [:])
  }

  @Test("T5: a device from which a relay withholds everything reports it after 3 days, once")
  func frozen() {
    var home = SignedFamily()
    home.tamper = { event, device in device == 3 ? [] : [event] }
    home.wait(Limits.silence - .minutes(1))
    #expect(home.problems[3] == nil)
    home.wait(.days(1))
    #expect(home.problems == [3: [.noNews]])
    home.beHonest()
    home.problems = [:]
    home.restore(3)
    home.connect(3)
    home.wait(.minutes(90))
    #expect(home.problems == [:])
  }

  @Test("T5: a beat shows what a relay withholds of a conversation")
  func withheld() {
    var home = SignedFamily()
    home.tamper = { event, device in
      device == 3 && event.audience == .conversation(Self.emily) ? [] : [event]
    }
    home.guardian(1, SignedFamily.contact("ada", known: true))
    home.wait(.minutes(10))
    #expect(home.problems[3] == nil && home.known() == [])
    home.wait(Self.day)
    #expect(home.problems == [3: [.withheld]])
    home.beHonest()
    home.wait(.minutes(5))
    #expect(home.known() == ["ada"] && home.children[3]!.link.hearing.named.isEmpty)
  }

  @Test("T5: a device that slept for a week reports no silence before an hour with the relay")
  func slept() {
    var home = SignedFamily()
    for device: UInt32 in [1, 2] { home.disconnect(device) }
    home.machines.now = home.machines.now + .days(7)
    home.wait(.minutes(45))
    #expect(home.problems == [:])
    home.connect(1)
    home.wait(.minutes(11))
    #expect(beats(home) == 1)
    home.wait(.minutes(20))
    #expect(home.problems == [:])
  }

  @Test("T5: the relay and devices refuse beats of children, and the relay those of unknown heads")
  func refused() {
    var home = SignedFamily()
    func send(_ device: UInt32, _ known: Knowledge, _ home: inout SignedFamily) -> Problem? {
      let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: UInt64(device) + 40)
      let signature = home.sign(.beat, id, .family, as: device, knowing: known)
      return home.request(device, 1, .command(id, .beat, signature))
    }
    let state = home.relay.state(of: SignedFamily.family)!
    var known = Knowledge(family: state.position(.family))
    #expect(send(3, known, &home) == .notPermitted)
    let conversation = Audience.conversation(Self.emily)
    known.heads = [
      AudienceHead(conversation, ChainPosition(seq: state.head(conversation) + 1))
    ]
    #expect(send(2, known, &home) == .forked)
    known.heads = []
    #expect(send(2, known, &home) == nil && beats(home) == 1)
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 99)
    home.storeUnchecked(
      home.forged(
        .beat, in: .family, by: 3, id: id,
        signature: home.sign(.beat, id, .family, as: 3)))
    #expect(home.problems[1] == [.notSigned] && home.problems[4] == [.notSigned])
  }
}
