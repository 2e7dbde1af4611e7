import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Attacks on the roster.
@Suite struct RosterAttackTests {
  private func intruder(_ home: SignedFamily) -> (roster: Roster, keys: DeviceKeys) {
    let keys = DeviceKeys()
    var roster = home.roster
    roster.persons.append(Person(id: PersonID(9), role: .guardian, displayName: "Mallory"))
    roster.devices.append(
      Device(
        id: DeviceID(9), person: PersonID(9), publicKey: Array(repeating: 9, count: 32), keys: keys)
    )
    return (roster, keys)
  }

  @Test("X3: rejects a guardian that the relay added to the roster")
  func intruder() {
    var home = SignedFamily()
    let question = home.ask("ada")
    let (roster, mallory) = intruder(home)
    let body = Event.Body.rosterChanged(roster)
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    let signatures: [Signature?] = [
      nil,
      // Signed by the intruder's key, by the child's device, and by another key in Rosa's name.
      home.sign(body, id, .family, as: 9, with: mallory),
      home.sign(body, id, .family, as: 3), home.sign(body, id, .family, as: 1, with: mallory),
    ]
    for signature in signatures {
      var home = home
      home.hand(
        home.forged(
          body, in: .family, by: signature?.signer.rawValue ?? 0, id: id, signature: signature),
        to: 3)
      #expect(home.problems[3] == [.notSigned])
      #expect(home.children[3]!.link.roster == home.roster)
      let decision = Event.Body.decided(
        Decision(question: question, choice: ChoiceHeader(id: "approve", answer: .approval)))
      let next = CommandID(high: id.high + 1, low: 1)
      let forged = home.sign(
        decision, next, as: 9, with: mallory, about: home.header(question))
      home.hand(home.forged(decision, by: 9, id: next, signature: forged), to: 3)
      #expect(home.known() == [] && home.problems[3] == [.notSigned, .notSigned])
    }
  }

  @Test("T5: a roster among a conversation's events does not enter what a guardian's roster names")
  func misplaced() {
    var home = SignedFamily()
    let body = Event.Body.rosterChanged(intruder(home).roster)
    func named(_ home: SignedFamily) -> ChainHash {
      home.machines.guardians[2]!.link.verifier!
        .knowledge(for: body, in: .family, of: DeviceID(2)).roster
    }
    let before = named(home)
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    let genuine = home.sign(body, id, as: 1)
    home.hand(home.forged(body, id: id, signature: genuine), to: 2)
    #expect(home.problems[2] == [.notSigned])
    #expect(named(home) == before)
    home.disconnect(2)
    home.restore(2)
    #expect(named(home) == before)
  }

  @Test("X3: rejects a family that another organizer signed")
  func otherOrganizer() {
    let keys = DeviceKeys()
    var home = SignedFamily(connected: [])
    var roster = home.roster
    roster.devices[0] = Device(
      id: DeviceID(1), person: PersonID(1), publicKey: Array(repeating: 1, count: 32), keys: keys)
    let body = Event.Body.rosterChanged(roster)
    let id = CommandID(high: 5, low: 5)
    home.log = []
    let first = home.forged(
      body, in: .family, id: id,
      signature: home.sign(body, id, .family, with: keys, basedOnSeq: 0))
    home.connect(3)
    home.hand(first, to: 3)
    #expect(home.problems[3] == [.notSigned])
    #expect(home.children[3]!.link.roster.persons.isEmpty)
  }

  @Test("X3: rejects a removed guardian's decisions, and an old roster that restores the guardian")
  func removed() {
    var home = SignedFamily()
    let genesis = home.event { if case .rosterChanged = $0 { true } else { false } }
    let question = home.ask("ada")
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    #expect(home.children[3]!.link.roster.device(DeviceID(2)) == nil)
    var older = home.again(genesis)
    older.command = CommandID(high: UInt64(home.now.milliseconds + 5) << 16, low: 1)
    older.signature = home.sign(older.body, older.command, .family, as: 2)
    older.device = DeviceID(2)
    // Rosa's genuine roster of before the removal, which the relay withheld until now.
    var kept = older
    kept.signature = home.sign(kept.body, kept.command, .family, as: 1)
    kept.device = DeviceID(1)
    for (event, problem) in [
      (home.again(genesis), Problem.replayed), (older, .notSigned), (kept, .notSigned),
    ] {
      var home = home
      home.hand(event, to: 3)
      #expect(home.children[3]!.link.roster.device(DeviceID(2)) == nil)
      #expect(home.problems[3] == [problem])
    }
    let decision = Event.Body.decided(
      Decision(question: question, choice: ChoiceHeader(id: "approve", answer: .approval)))
    let id = CommandID(high: UInt64(home.now.milliseconds + 9) << 16, low: 1)
    let late = home.forged(
      decision, by: 2, id: id,
      signature: home.sign(decision, id, as: 2, about: home.header(question)))
    home.hand(late, to: 3)
    #expect(home.known() == [] && home.problems[3] == [.notSigned])
  }

  @Test(
    "F1: the administrator cannot change a signed family; a guardian can, but not the organizer")
  func relayRefuses() {
    var home = SignedFamily()
    let (roster, _) = intruder(home)
    let id = CommandID(high: 1, low: 1)
    #expect(home.request(0, 1, .command(id, .setRoster(roster))) == .notSigned)
    let body = Event.Body.rosterChanged(roster)
    let byChild = home.sign(body, id, .family, as: 3)
    #expect(home.request(0, 1, .command(id, .setRoster(roster), byChild)) == .notSigned)
    #expect(home.request(3, 1, .command(id, .setRoster(roster), byChild)) == .notPermitted)
    let stale = home.sign(body, id, .family, as: 2, basedOnSeq: 0)
    #expect(home.request(2, 1, .command(id, .setRoster(roster), stale)) == .stale)
    #expect(
      home.change(by: 2) { roster in
        roster.persons[0].role = .guardian
        roster.persons[1].role = .organizer
      } == .notSigned)
    // With a second device, the organizer's first one is removable, but by the organizer alone.
    let keys = home.keys
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 1, keys)) } == nil)
    #expect(home.change(by: 2) { $0.devices.removeAll { $0.id == DeviceID(1) } } == .notSigned)
    #expect(home.change(by: 2) { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    #expect(home.children[3]!.link.roster == home.roster)
    #expect(home.problems == [:])
  }

  @Test("F4: guardians' devices add children, also two at the same time")
  func addChild() {
    var home = SignedFamily()
    home.disconnect(1)
    home.guardian(1, .addChild(displayName: "Noah"))
    home.guardian(2, .addChild(displayName: "Mia"))
    home.connect(1)
    home.wait(.seconds(5))
    let names = home.guardians[2]!.link.roster.children.map(\.displayName)
    #expect(names == ["Emily", "Mia", "Noah"])
    #expect(home.guardians[1]!.link.roster == home.guardians[2]!.link.roster)
    #expect(home.problems == [:])
  }
}
