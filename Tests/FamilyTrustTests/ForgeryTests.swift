import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

private let approve = ChoiceHeader(id: "approve", answer: .approval)
private let decline = ChoiceHeader(id: "decline", answer: .denial)

/// Forgeries by the operator of the relay.
@Suite struct ForgeryTests {
  @Test("X3: with an honest relay, an approval makes the handle known on both devices")
  func honest() {
    var home = SignedFamily()
    let question = home.ask("ada")
    #expect(home.known() == [])
    home.answer(question, "approve")
    #expect(home.known() == ["ada"] && home.known(4) == ["ada"])
    #expect(home.problems == [:])
    #expect(home.answers[3]?.map(\.id) == ["approve"])
  }

  @Test("X3: rejects approvals the relay forged: unsigned, relay-signed, child-signed")
  func approval() {
    var home = SignedFamily()
    let question = home.ask("ada")
    let decision = Event.Body.decided(Decision(question: question, choice: approve))
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 9)
    let header = home.header(question)
    let stranger = DeviceKeys()
    let forgeries: [Signature?] = [
      nil, home.sign(decision, id, with: stranger, about: header),
      home.sign(decision, id, as: 3, about: header),
      home.sign(decision, id, as: 9, with: stranger, about: header),
    ]
    for signature in forgeries {
      var home = home
      home.hand(
        home.forged(decision, by: signature?.signer.rawValue ?? 1, id: id, signature: signature),
        to: 3)
      #expect(home.known() == [] && home.answers[3] == nil)
      #expect(home.problems[3] == [.notSigned])
    }
    // The same event with Rosa's real signature verifies: only the signature is under test.
    let real = home.sign(decision, id, about: header)
    home.hand(home.forged(decision, id: id, signature: real), to: 3)
    #expect(home.known() == ["ada"])
  }

  @Test("X3: rejects a guardian's signed choice that the question does not offer")
  func otherChoice() {
    let foreign = ChoiceHeader(id: "always", answer: .approval)
    let inverted = ChoiceHeader(id: "decline", answer: .approval)
    for choice in [foreign, inverted] {
      var home = SignedFamily()
      let question = home.ask("ada")
      let decision = Event.Body.decided(Decision(question: question, choice: choice))
      let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 9)
      let signature = home.sign(decision, id, about: home.header(question))
      home.hand(home.forged(decision, id: id, signature: signature), to: 3)
      #expect(home.known() == [] && home.answers[3] == nil)
      #expect(home.problems[3] == [.contradiction])
    }
  }

  @Test("X3: refuses an unsigned command of a device that has a signing key")
  func unsigned() {
    var home = SignedFamily()
    let command = Command.post(child: SignedFamily.emily, .sealed([1]))
    let body = Event.Body.posted(child: SignedFamily.emily, .sealed([1]))
    func id(_ number: UInt64) -> CommandID { CommandID(high: 1 << 16, low: number) }
    let (seq, other) = (home.log.count, home.sign(body, id(1), as: 4))
    for (number, signature) in [nil, other].enumerated() {
      let effects = home.relay.step(
        .request(
          home.address(3), key: home.roster.device(DeviceID(3))!.publicKey, administrator: false,
          id: 1, .command(id(UInt64(number)), command, signature)), now: home.now)
      #expect(
        effects == [
          .reply(home.address(3), id: 1, .refused(id(UInt64(number)), .notSigned))
        ])
    }
    #expect(home.log.count == seq)
    let own = home.sign(body, id(9), as: 3)
    #expect(home.request(3, 1, .command(id(9), command, own)) == nil)
  }

  @Test("X3: without verification, the same forgery makes the handle known")
  func mutant() {
    var home = SignedFamily(verifies: false)
    let question = home.ask("ada")
    home.hand(
      home.forged(.decided(Decision(question: question, choice: approve))), to: 3)
    #expect(home.known() == ["ada"])
  }

  @Test("X3: rejects a decline edited into an approval, or moved to another question")
  func edited() {
    var home = SignedFamily()
    let (ada, ben) = (home.ask("ada"), home.ask("ben"))
    home.tamper = { event, device in
      guard device > 2, case .decided(var decision) = event.body else { return [event] }
      var event = event
      decision = Decision(question: decision.question == ada ? ada : ben, choice: approve)
      event.body = .decided(decision)
      return [event]
    }
    home.answer(ada, "decline")
    #expect(home.known() == [] && home.problems[3] == [.notSigned])
    home.tamper = { event, device in
      guard device > 2, case .decided(let decision) = event.body else { return [event] }
      var event = event
      event.body = .decided(Decision(question: ada, choice: decision.choice))
      return [event]
    }
    home.answer(ben, "approve", by: 2)
    #expect(home.known() == [] && home.known(4) == [])
    // The guardian knew another first answer than the child's device.
    #expect(home.problems[3] == [.notSigned, .forked])
  }

  @Test("X3: rejects a question with a changed app, choices' meanings, or subjects")
  func header() {
    for edit in 0..<4 {
      var home = SignedFamily(connected: [1, 2, 3])
      home.tamper = { event, _ in
        guard case .asked(var header, let content) = event.body else { return [event] }
        switch edit {
        case 0: header.choices = [ChoiceHeader(id: "decline", answer: .approval), approve]
        case 1: header.app = AppID("example.other")
        case 2: header.subjects[0] ^= 1
        default: header.id = QuestionID(high: 1, low: 1)
        }
        var event = event
        event.body = .asked(header, content)
        return [event]
      }
      let question = home.ask("ada")
      #expect(home.guardians[1]!.open(now: home.now).isEmpty)
      #expect(home.problems[1] == [.notSigned])
      home.answer(question, "decline")
      #expect(home.known() == [])
    }
  }

  @Test(
    "X3: rejects swapped or changed contents, even under the child's own signature")
  func content() throws {
    var home = SignedFamily()
    let (ada, ben) = (home.ask("ada"), home.ask("ben"))
    home.answer(ben, "decline")
    func asked(_ id: QuestionID) -> Event {
      home.event { if case .asked(let header, _) = $0 { header.id == id } else { false } }
    }
    guard case .asked(let header, .sealed(let bytes)) = asked(ada).body,
      case .asked(_, let other) = asked(ben).body
    else { throw Problem.malformed }
    var flipped = bytes
    flipped[flipped.count - 1] ^= 1
    var moved = header
    moved.id = QuestionID(high: 3, low: 3)
    for content in [other, .sealed(flipped), .sealed(bytes), .sealed([]), .text("plain")] {
      let body = Event.Body.asked(moved, content)
      let id = CommandID(high: UInt64(home.now.milliseconds + 9) << 16, low: 4)
      var home = home
      home.hand(
        home.forged(body, by: 3, id: id, signature: home.sign(body, id, as: 3)), to: 1)
      #expect(home.guardians[1]!.question(moved.id) == nil)
      #expect(home.problems[1] == [.cannotOpen])
    }
  }

  @Test("X3: rejects limits, passcodes, contacts, withdrawals and accounts not signed by guardians")
  func others() {
    let home = SignedFamily()
    let passcode = Passcode(
      salt: Array(repeating: 0, count: 16), logCost: 4, publicKey: DeviceKeys().signingKey)
    let bodies: [(Event.Body, Audience)] = [
      (.limitsChanged(child: SignedFamily.emily, on: false), .conversation(SignedFamily.emily)),
      (.passcodeChanged(passcode), .family),
      (
        .contactChanged(child: SignedFamily.emily, .contact(Handle("eve", .custom), known: true)),
        .conversation(SignedFamily.emily)
      ),
      (
        .withdrawn(child: SignedFamily.emily, .withdrawal(.consent(SignedFamily.app))),
        .conversation(SignedFamily.emily)
      ),
      (
        .accountChanged(
          SignedFamily.emily,
          .account(Account(birthdate: nil, region: "US", declaration: .guardianDeclared))),
        .account(SignedFamily.emily)
      ),
    ]
    for (body, audience) in bodies {
      let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
      for signature in [nil, home.sign(body, id, audience, as: 3)] {
        var home = home
        home.hand(
          home.forged(
            body, in: audience, by: signature == nil ? 1 : 3, id: id, signature: signature), to: 3)
        #expect(home.problems[3] == [.notSigned])
        let link = home.children[3]!.link
        #expect(link.conversations[SignedFamily.emily]?.limitsOn ?? true)
        #expect(link.passcode == nil && link.accounts.isEmpty && home.known() == [])
      }
    }
  }

  @Test("X3: rejects in-person answers without the passcode, also from a dishonest child's device")
  func inPerson() {
    var home = SignedFamily()
    let secret = DeviceKeys()
    home.choosePasscode(secret)
    let question = home.ask("ada")
    var header = home.header(question)
    header.id = QuestionID(high: 8, low: 8)
    let id = CommandID(high: UInt64(home.now.milliseconds + 7) << 16, low: 6)
    let message = InPerson.signedBytes(
      family: SignedFamily.family, command: id, header: header, choice: "approve",
      content: KeyVault.digest([]))
    for proof in [Array(repeating: 0, count: 64), KeyVault(DeviceKeys()).sign(message)] {
      let body = Event.Body.answeredInPerson(
        header, .sealed([]), Decision(question: header.id, choice: approve), proof: proof)
      var home = home
      home.hand(
        home.forged(body, by: 3, id: id, signature: home.sign(body, id, as: 3, basedOnSeq: 2)),
        to: 4)
      #expect(home.problems[4] == [.noProof])
      #expect(home.known(4) == [])
    }
  }

  @Test("T8: a proof that the child's software kept is valid for no other command")
  func keptProof() throws {
    var home = SignedFamily()
    let secret = DeviceKeys()
    home.choosePasscode(secret)
    home.tamper = { event, device in
      if device == 4, case .answeredInPerson = event.body { [] } else { [event] }
    }
    home.inPerson("ada", passcode: secret)
    #expect(home.known() == ["ada"] && home.known(4) == [])
    let genuine = try #require(home.log.last)
    guard case .answeredInPerson(let header, let content, let decision, let proof) = genuine.body,
      case .sealed(var sealed) = content
    else { throw Problem.unknown }
    var others = Array(repeating: header, count: 4)
    others[0].id = QuestionID(high: 8, low: 8)
    others[1].subjects[0] ^= 1
    others[2].app = AppID("other")
    others[3].expiration = home.now + .hours(1)
    sealed[sealed.count - 1] ^= 1
    var bodies = others.map { header in
      var decision = decision
      decision.question = header.id
      return Event.Body.answeredInPerson(header, content, decision, proof: proof)
    }
    bodies.append(.answeredInPerson(header, .sealed(sealed), decision, proof: proof))
    let deny = Decision(question: header.id, choice: header.choices[1])
    bodies.append(.answeredInPerson(header, content, deny, proof: proof))
    home.tamper = { event, _ in [event] }
    func problems(_ body: Event.Body, _ id: CommandID, at: Instant) -> [Problem]? {
      var (home, event) = (home, genuine)
      (event.body, event.command, event.at) = (body, id, at)
      event.signature = home.sign(
        body, id, as: 3, basedOnSeq: genuine.signature?.basedOnSeq ?? 0)
      home.hand(event, to: 4)
      #expect((home.known(4) == ["ada"]) == (home.problems[4] == nil))
      return home.problems[4]
    }
    for body in bodies { #expect(problems(body, genuine.command, at: genuine.at) == [.noProof]) }
    let other = CommandID(high: genuine.command.high, low: 77)
    #expect(problems(genuine.body, other, at: genuine.at) == [.noProof])
    let late = genuine.at + Limits.passcodeProofTime + .seconds(1)
    #expect(problems(genuine.body, genuine.command, at: late) == [.proofOutdated])
    #expect(problems(genuine.body, genuine.command, at: genuine.at) == nil)
  }
}
