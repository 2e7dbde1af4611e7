import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Genuine events that the operator of the relay repeats, delays or reorders.
@Suite struct ReplayTests {
  private let ada = Handle("ada", .custom)

  private func isContact(_ body: Event.Body) -> Bool {
    if case .contactChanged = body { true } else { false }
  }

  @Test("R8, X3: a device sends no unsigned command about a question that it does not have yet")
  func unsignedCancel() {
    var home = SignedFamily()
    // The relay withholds the question from Emily's other device, which cancels it.
    home.tamper = { event, device in
      if device == 4, case .asked = event.body { return [] }
      return [event]
    }
    let question = home.ask("ada")
    home.child(4, .cancel(question))
    home.wait(.seconds(3))
    #expect(home.log.allSatisfy { $0.device == DeviceID(0) || $0.signature != nil })
    home.tamper = { event, _ in [event] }
    home.wait(.minutes(1))
    let cancelled = home.event { if case .cancelled = $0 { true } else { false } }
    #expect(cancelled.device == DeviceID(4) && cancelled.signature != nil)
    #expect(home.problems[3] ?? [] == [])
    // A cancellation of a question that never existed is dropped.
    home.child(4, .cancel(QuestionID(high: 1, low: 1)))
    home.wait(.minutes(2))
    #expect(home.children[4]!.link.pendingCommands.isEmpty)
  }

  @Test("X3: replaying an approval after its withdrawal changes nothing")
  func replayedApproval() {
    var home = SignedFamily()
    let question = home.ask("ada")
    home.answer(question, "approve")
    let decided = home.event { if case .decided = $0 { true } else { false } }
    home.guardian(2, .withdraw(child: SignedFamily.emily, .handle(ada, in: nil)))
    #expect(home.known() == [] && home.known(4) == [])
    home.hand(home.again(decided), to: 3)
    #expect(home.known() == [] && home.problems[3] == [.replayed])
  }

  @Test("X3: replaying or reordering a removed contact changes nothing")
  func reorderedContact() {
    var home = SignedFamily(connected: [1, 2, 3])
    home.guardian(1, .changeContact(child: SignedFamily.emily, ada, known: true))
    #expect(home.known() == ["ada"])
    let added = home.event(isContact)
    home.guardian(2, .changeContact(child: SignedFamily.emily, ada, known: false))
    let removed = home.event(isContact)
    home.hand(home.again(added), to: 3)
    #expect(home.known() == [] && home.problems[3] == [.replayed])
    // Emily's other device was offline and receives the two in reverse order.
    home.tamper = { event, device in
      guard device == 4, event == added || event == removed else { return [event] }
      var other = event == added ? removed : added
      (other.seq, other.previous) = (event.seq, event.previous)
      return [other]
    }
    home.connect(4)
    #expect(home.known(4) == [] && home.problems[4] == nil)
    #expect(
      home.disks[4]!.values.contains {
        if case .event(let e) = $0 { e.command == added.command } else { false }
      })
  }

  @Test("T1: a child's event under a guardian's id hides no command of the guardian")
  func sharedID() {
    for isHonest in [true, false] {
      var home = SignedFamily()
      let question = home.ask("ada")
      let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
      let audience = Audience.conversation(SignedFamily.emily)
      let (reminded, off) = (
        Event.Body.reminded(question),
        Event.Body.limitsChanged(child: SignedFamily.emily, on: false)
      )
      let header = home.header(question)
      let child = home.sign(reminded, id, as: 3, about: header)
      let guardian = home.sign(off, id, as: isHonest ? 1 : 3)
      let first = home.forged(reminded, in: audience, by: 3, id: id, signature: child)
      home.hand(first, to: 2)
      var second = home.forged(off, in: audience, by: isHonest ? 1 : 3, id: id, signature: guardian)
      (second.seq, second.previous) = (first.seq + 1, first.seq)
      home.hand(second, to: 2)
      let link = home.machines.guardians[2]!.link
      #expect(link.conversations[SignedFamily.emily]?.limitsOn == !isHonest)
      #expect((home.problems[2] == nil) == isHonest)
    }
  }

  @Test("X3: replaying old limits, accounts or passcodes changes nothing")
  func others() {
    var home = SignedFamily(connected: [1, 2, 3])
    func account(_ year: Int32) -> Account {
      Account(
        birthdate: .init(year: year, month: 5, day: 17), region: "US",
        declaration: .guardianDeclared)
    }
    func passcode(_ secret: UInt8) -> DeviceKeys {
      DeviceKeys(
        signingSecret: Array(repeating: secret, count: 32),
        agreementSecret: Array(repeating: secret, count: 32))!
    }
    for (index, on) in [false, true].enumerated() {
      home.guardian(1, .setLimits(child: SignedFamily.emily, on: on))
      home.guardian(1, .setAccount(SignedFamily.emily, account(2014 + Int32(index))))
      home.choosePasscode(passcode(UInt8(index + 1)))
    }
    // The relay withholds the first of each pair from the other device until after the second.
    let log = home.log
    func isAlike(_ a: Event.Body, _ b: Event.Body) -> Bool {
      switch (a, b) {
      case (.limitsChanged, .limitsChanged), (.accountChanged, .accountChanged),
        (.passcodeChanged, .passcodeChanged):
        true
      default: false
      }
    }
    home.tamper = { event, device in
      let pair = log.filter { isAlike($0.body, event.body) }
      guard device == 4, pair.count == 2 else { return [event] }
      if event == pair[0] { return [] }
      var (second, first) = (event, pair[0])
      second.previous = first.previous
      (first.seq, first.previous) = (second.seq + 100, second.seq)
      return [second, first]
    }
    home.connect(4)
    #expect(home.problems[4]?.contains(.forked) ?? false)
    home.beHonest()
    home.disconnect(4)
    home.connect(4)
    for device: UInt32 in [3, 4] {
      let link = home.children[device]!.link
      #expect(link.conversations[SignedFamily.emily]?.limitsOn == true)
      #expect(link.accounts[SignedFamily.emily] == account(2015))
      #expect(link.passcode?.publicKey == passcode(2).signingKey)
    }
  }

  @Test("X3: a second answer, or one after a cancellation, changes nothing on a device")
  func second() {
    var home = SignedFamily()
    let question = home.ask("ada")
    let header = home.header(question)
    home.answer(question, "decline")
    let choice = ChoiceHeader(id: "approve", answer: .approval)
    let body = Event.Body.decided(Decision(question: question, choice: choice))
    let id = CommandID(high: UInt64(home.now.milliseconds + 9) << 16, low: 1)
    home.hand(
      home.forged(body, by: 2, id: id, signature: home.sign(body, id, as: 2, about: header)), to: 3)
    #expect(home.known() == [] && home.problems[3] == [.replayed])
  }

  @Test(
    "X3: dropped, doubled, moved, swapped and flipped events make no unapproved handle known",
    arguments: 0..<60)
  func random(_ seed: Int) {
    var home = SignedFamily()
    var source = IDSource(seed: UInt64(seed))
    var held: [Event] = []
    var allowed: Set<String> = []
    for round in 0..<8 {
      home.tamper = { event, _ in
        switch source.next() % 8 {
        case 0: return []
        case 1: return [event, event]
        case 2:
          held.append(event)
          return []
        case 3:
          var event = event
          event.seq += source.next() % 3
          return [event]
        case 4:
          guard var old = held.randomElement(using: &source) else { return [event] }
          (old.seq, old.previous) = (event.seq, event.previous)
          return [old]
        case 5:
          var event = event
          if let bytes = event.signature?.bytes, !bytes.isEmpty {
            event.signature!.bytes[Int(source.next() % 64)] ^= 1
          }
          return [event]
        default: return [event]
        }
      }
      let question = home.ask("h\(round)")
      let guardian = UInt32(source.next() % 2 + 1)
      if home.guardians[guardian]!.question(question) != nil {
        let approves = source.next() % 2 == 0
        home.answer(question, approves ? "approve" : "decline", by: guardian)
        if approves { allowed.insert("h\(round)") }
      }
      home.wait(.milliseconds(source.next() % 3_000))
      for device: UInt32 in [3, 4] {
        #expect(Set(home.known(device)).isSubset(of: allowed), "seed \(seed)")
      }
    }
  }

  @Test(
    "K3: after an honest network's losses, copies and delays, every approved handle is known",
    arguments: 0..<20)
  func lossy(_ seed: Int) {
    var home = SignedFamily()
    var source = IDSource(seed: UInt64(seed))
    var held: [Event] = []
    var approved: Set<String> = []
    for round in 0..<6 {
      home.tamper = { event, _ in
        switch source.next() % 4 {
        case 0: return []
        case 1: return [event, event]
        case 2:
          held.append(event)
          return held.count > 3 ? [held.removeFirst(), event] : [event]
        default: return [event]
        }
      }
      let question = home.ask("h\(round)")
      home.wait(.seconds(20))
      if home.guardians[1]!.question(question) != nil {
        home.answer(question, "approve")
        approved.insert("h\(round)")
      }
    }
    home.tamper = { event, _ in [event] }
    home.wait(.minutes(2))
    #expect(approved.count > 2)
    #expect(Set(home.known()) == approved && Set(home.known(4)) == approved)
    #expect(home.problems == [:])
  }
}
