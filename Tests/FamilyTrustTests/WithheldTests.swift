import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// A relay that withholds an event of the family which others have read.
@Suite struct WithheldTests {
  /// A family whose relay hides a roster from device 3. A guardian who knows it then adds a contact.
  private func hiding() -> SignedFamily {
    var home = SignedFamily()
    let keys = home.keys
    home.guardian(1, .post(child: SignedFamily.emily, "before"))
    home.tamper = { event, device in
      if device == 3, case .rosterChanged = event.body, event.seq > 1 { return [] }
      return [event]
    }
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    contact(&home, "ada")
    return home
  }

  private func contact(_ home: inout SignedFamily, _ handle: String) {
    home.guardian(
      1, .changeContact(child: SignedFamily.emily, Handle(handle, .custom), known: true))
  }

  @Test("T5: an event that is withheld for a minute is reported once")
  func reported() {
    var home = hiding()
    home.wait(.seconds(59))
    #expect(home.problems[3] == nil && home.known() == [])
    home.wait(.seconds(2))
    #expect(home.problems[3] == [.withheld] && home.known() == [])
    contact(&home, "ben")
    home.wait(.minutes(10))
    #expect(home.problems[3] == [.withheld] && home.known() == [])
    home.beHonest()
    home.disconnect(3)
    home.connect(3)
    home.wait(.minutes(2))
    #expect(home.known() == ["ada", "ben"] && home.problems[3] == [.withheld])
    #expect(home.children[3]!.link.withholding == nil)
  }

  @Test("T5: an event counts with the one that it waits for, also if that one is rejected")
  func rejected() {
    var home = SignedFamily()
    let conversation = Audience.conversation(SignedFamily.emily)
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    let forged = home.sign(.beat, id, .family, as: 1, with: DeviceKeys())
    let awaited = home.relinked(
      [home.forged(.beat, in: .family, id: id, signature: forged)], for: 3)[0]
    let body = Event.Body.limitsChanged(child: SignedFamily.emily, on: false)
    let known = Knowledge(
      family: awaited.position, audience: home.children[3]!.link.verifier!.head(conversation))
    let next = CommandID(high: id.high, low: 6)
    var waiting = home.forged(
      body, by: 2, id: next, signature: home.sign(body, next, conversation, as: 2, knowing: known))
    waiting.seq += 1
    let limitsOn = { (home: SignedFamily) in
      home.children[3]!.link.conversations[SignedFamily.emily]?.limitsOn
    }
    home.hand(waiting, to: 3)
    #expect(limitsOn(home) != false && home.problems[3] == nil)
    home.hand(awaited, to: 3)
    #expect(limitsOn(home) == false && home.problems[3] == [.notSigned])
  }

  @Test("T5: the report fetches the event again, and only connected time counts")
  func connected() {
    var home = hiding()
    home.wait(.seconds(40))
    home.disconnect(3)
    home.wait(.minutes(10))
    home.connect(3)
    home.wait(.seconds(19))
    #expect(home.problems[3] == nil)
    var device = home.children[3]!
    let effects = device.step(.timer, now: home.now + .seconds(2))
    #expect(effects.contains(.notify(.eventRejected(.withheld))))
    #expect(
      effects.contains { if case .send(_, .fetch(.family, _)) = $0 { true } else { false } })
    home.wait(.seconds(2))
    #expect(home.problems[3] == [.withheld])
    home.beHonest()
    home.wait(.minutes(1))
    #expect(home.known() == ["ada"])
  }

  @Test("T5: an event that is late by less than a minute is not reported")
  func late() {
    var home = hiding()
    home.wait(.seconds(30))
    home.beHonest()
    home.disconnect(3)
    home.connect(3)
    home.wait(.minutes(5))
    #expect(home.problems[3] == nil && home.known() == ["ada"])
  }

  @Test("X2: a device fetches the event of a command that the relay has accepted")
  func acceptedEvent() throws {
    var home = SignedFamily()
    home.child(3, .post("before"))
    var device = try #require(home.children[3])
    let head = device.link.delivered(.conversation(SignedFamily.emily))
    let ids = device.step(.post("hello"), now: home.now).compactMap { effect in
      if case .send(_, .command(let id, .post, _)) = effect { id } else { nil }
    }
    let id = try #require(ids.first)
    // The broadcast was lost.
    let effects = device.step(.reply(0, .accepted(id, seq: head + 1)), now: home.now)
    let fetched = effects.compactMap { effect in
      if case .send(_, .fetch(let audience, let after)) = effect { (audience, after) } else { nil }
    }
    #expect(fetched.map(\.0) == [.conversation(SignedFamily.emily)])
    #expect(fetched.map(\.1) == [head])
    #expect(device.link.pendingCommands.count == 1)
  }
}
