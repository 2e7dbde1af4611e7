@testable import FamilyCore
import FamilyModel
import FamilyTrust
import RelayWire
import Testing

/// Commands of members that the relay could accept, and that would harm the others.
@Suite struct MemberAttackTests {
  @Test(
    "T10: the relay refuses a roster whose signer names a position that readers contradict",
    arguments: [
      ChainPosition(seq: 99), ChainPosition(seq: 99, hash: ChainHash(bytes: Self.invented)!),
      ChainPosition(seq: 1), ChainPosition(seq: 1, hash: ChainHash(bytes: Self.invented)!),
    ])
  func position(_ position: ChainPosition) {
    var home = SignedFamily()
    // The relay compares the newest hash only, so the signer names an older event.
    home.guardian(
      1, .invite(JoinTicket().invitation(for: PersonID(1), until: home.now + .minutes(9))))
    var next = home.roster
    next.devices.removeAll { $0.id == DeviceID(4) }
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 9)
    let known = Knowledge(family: position, roster: home.digestOfRoster())
    let signature = home.sign(.rosterChanged(next), id, .family, as: 2, knowing: known)
    let problem = home.request(2, 100, .command(id, .setRoster(next), signature))
    #expect(problem == .stale || problem == .forked)
    // The device that the roster left out is still a member for everybody.
    #expect(home.change { $0.persons[0].displayName = "Rosa" } == nil)
    #expect(home.children[3]!.link.roster == home.roster)
    #expect(home.problems == [:])
  }

  private static let invented = [UInt8](repeating: 8, count: ChainHash.byteCount)

  /// Guardian 2 sends a command under an id of its choice.
  private func send(_ command: Command, id: CommandID, _ home: inout SignedFamily) throws {
    let signed = try home.machines.guardians[2]!.prepare(command, id: id, now: home.now)
    for (number, command) in signed.enumerated() {
      let request = Request.command(command.id, command.command, command.signature)
      #expect(home.request(2, 100 + UInt64(number), request) == nil)
    }
  }

  @Test("T1: an event with the id of an approval takes no evidence from it")
  func idOfApproval() throws {
    var home = SignedFamily()
    home.guardian(
      1, .changeContact(child: SignedFamily.emily, Handle("ada", .custom), known: true))
    let contact = home.event { if case .contactChanged = $0 { true } else { false } }
    // After a removal the family seals under another key.
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    try send(.post(child: SignedFamily.emily, .text("x")), id: contact.command, &home)
    home.appDisks[3] = [:]
    home.startApp(on: 3)
    #expect(home.known() == ["ada"])
    #expect(home.appProblems == [:] && home.problems == [:])
  }

  @Test("T1: an answer with the id of another device's contact reaches the app")
  func idOfContact() throws {
    var home = SignedFamily()
    home.guardian(
      1, .changeContact(child: SignedFamily.emily, Handle("ada", .custom), known: true))
    let contact = home.event { if case .contactChanged = $0 { true } else { false } }
    let question = home.ask("bob")
    try send(.answer(question, choice: Choice.approve.id), id: contact.command, &home)
    #expect(home.known() == ["ada", "bob"])
    home.appDisks[3] = [:]
    home.startApp(on: 3)
    #expect(home.known() == ["ada", "bob"])
    #expect(home.appProblems == [:] && home.problems == [:])
  }

  @Test("T10: nobody states anything by a right that the signature does not know of")
  func unknownRight() {
    var home = SignedFamily()
    let keys = home.keys
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 1, keys)) } == nil)
    let former = home.machines.log.first!.seq
    let present = home.event { if case .rosterChanged = $0 { true } else { false } }.seq
    // A reader of the conversation alone does not know the new device yet, and rejects the event.
    for (seq, problem) in [(former, Problem.stale), (present, nil)] {
      let command = Command.setLimits(child: SignedFamily.emily, on: true)
      let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: seq)
      let signature = home.sign(
        .limitsChanged(child: SignedFamily.emily, on: true), id, as: 5, basedOnSeq: seq)
      #expect(home.request(5, 7, .command(id, command, signature)) == problem)
    }
    #expect(home.problems == [:])
  }

  @Test("T10: a person who is no child any more neither cancels nor repeats a question")
  func formerChild() {
    var home = SignedFamily()
    let question = home.ask("ada")
    #expect(home.change { $0.persons[2].role = .adult } == nil)
    home.now = home.now + Limits.reminderInterval
    let commands: [(Command, Event.Body)] = [
      (.cancel(question), .cancelled(question)), (.remind(question), .reminded(question)),
    ]
    for (number, (command, body)) in commands.enumerated() {
      let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: UInt64(number))
      let signature = home.sign(
        body, id, as: 3, basedOnSeq: home.rosterSeq, about: home.header(question))
      #expect(home.request(3, 7, .command(id, command, signature)) == .unknown)
    }
  }

  @Test("T6: a device with the agreement key of another one stops no key share")
  func copiedAgreementKey() {
    var home = SignedFamily()
    let keys = home.keys
    #expect(
      home.change(by: 2) { roster in
        var device = SignedFamily.device(5, 2, keys)
        device.agreementKey = roster.device(DeviceID(3))!.agreementKey
        roster.devices.append(device)
      } == nil)
    // The readers differ, so the next text needs a new key.
    #expect(home.change(by: 2) { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    home.guardian(1, .post(child: SignedFamily.emily, "hello"))
    let lines = home.children[3]!.link.conversations[SignedFamily.emily]?.lines
    #expect(lines?.last?.body == .text("hello"))
  }
}
