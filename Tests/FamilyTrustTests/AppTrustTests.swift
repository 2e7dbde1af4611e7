import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

extension [AppMachine.Effect] {
  /// Whether the app rejected a message of its device.
  var hasProblem: Bool { contains { if case .rejected = $0 { true } else { false } } }
}

/// Lies of a dishonest device, or of a process in its place, to an app.
@Suite struct AppTrustTests {
  static let eve = Handle("eve", .custom)

  /// The app entry with the answer to the question.
  func entry(_ id: QuestionID, _ home: SignedFamily) -> AppEntry {
    for change in home.toldEntries.reversed() {
      if case .response(let question, _) = change.body, question.id == id { return change }
    }
    preconditionFailure("no such entry")
  }

  /// The entry, as the next entry of Emily's app.
  func next(_ entry: AppEntry, _ home: SignedFamily) -> AppEntry {
    var entry = entry
    entry.position = home.toldEntries.map(\.position).max()! + 1
    return entry
  }

  /// Delivers the entry; returns the handles that the app knows and the problems that it reported.
  func tell(_ entry: AppEntry, _ home: SignedFamily) -> (
    known: [String], problems: [Problem], told: [Problem], answers: Int
  ) {
    var home = home
    home.tell(.entry(next(entry, home)), 3)
    return (
      home.known(), home.appProblems[3] ?? [], home.reported[3] ?? [],
      home.answers[3]?.count ?? 0
    )
  }

  @Test("X3, K1: an app verifies guardians' responses, contacts, withdrawals and consent")
  func honest() {
    var home = SignedFamily()
    let (ada, ben) = (home.ask("ada"), home.ask("ben"))
    home.answer(ada, "approve")
    home.answer(ben, "decline", by: 2)
    home.guardian(1, .changeContact(child: SignedFamily.emily, Handle("pa", .custom), known: true))
    #expect(home.known() == ["ada", "pa"])
    home.guardian(1, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: nil)))
    home.guardian(1, .withdraw(child: SignedFamily.emily, .consent(SignedFamily.app)))
    #expect(home.known() == ["pa"] && home.apps[3]!.isConsentWithdrawn)
    #expect(home.appProblems == [:] && home.reported == [:])
    #expect(home.answers[3]?.map(\.id) == ["approve", "decline"])
    // On each of the child's devices, after a restart of the app, and after the loss of its state.
    #expect(home.known(4) == ["pa"])
    home.startApp(on: 3)
    #expect(home.known() == ["pa"] && home.apps[3]!.isConsentWithdrawn)
    home.appDisks[3] = [:]
    home.startApp(on: 3)
    #expect(home.known() == ["pa"] && home.appProblems == [:])
    #expect(home.apps[3]!.isConsentWithdrawn && home.apps[3]!.visible.sorted().isEmpty)
    home.guardian(2, .withdraw(child: SignedFamily.emily, .consentGiven(SignedFamily.app)))
    #expect(!home.apps[3]!.isConsentWithdrawn && !home.apps[4]!.isConsentWithdrawn)
    home.appDisks[3] = [:]
    home.startApp(on: 3)
    #expect(!home.apps[3]!.isConsentWithdrawn && home.appProblems == [:])
  }

  @Test("R9, X3: only a guardian's signature gives an app its consent back") func consent() {
    var home = SignedFamily()
    home.answer(home.ask("ada"), "approve")
    home.guardian(1, .withdraw(child: SignedFamily.emily, .consent(AppID("example.other"))))
    home.guardian(1, .withdraw(child: SignedFamily.emily, .consentGiven(AppID("example.other"))))
    home.guardian(1, .withdraw(child: SignedFamily.emily, .consent(SignedFamily.app)))
    let withdrawn = home.toldEntries.last { $0.body == .consentWithdrawn }!
    let approved = home.toldEntries.first { if case .response = $0.body { true } else { false } }!
    let attempts: [([Evidence], Problem)] = [
      ([], .notSigned), (withdrawn.evidence, .contradiction), (approved.evidence, .contradiction),
    ]
    for (evidence, problem) in attempts {
      var home = home
      home.tell(
        .entry(next(AppEntry(position: 0, body: .consentGiven, evidence: evidence), home)), 3)
      #expect(home.apps[3]!.isConsentWithdrawn && home.appProblems[3] == [problem])
    }
  }

  @Test("X3: an app rejects and reports unsigned and edited responses")
  func edited() {
    var home = SignedFamily()
    let (ada, ben) = (home.ask("ada"), home.ask("ben"))
    home.answer(ada, "approve")
    home.answer(ben, "decline")
    let (approved, declined) = (entry(ada, home), entry(ben, home))
    guard case .response(let question, let choice) = approved.body,
      case .response(let other, _) = declined.body
    else { preconditionFailure() }
    var edits: [(AppEntry, Problem)] = []
    func edit(_ entry: AppEntry, _ problem: Problem, _ body: (inout AppEntry) -> Void) {
      var entry = entry
      body(&entry)
      edits.append((entry, problem))
    }
    edit(approved, .notSigned) { $0.evidence = [] }
    edit(approved, .notSigned) { $0.evidence[0].event.signature = nil }
    edit(approved, .notSigned) { $0.evidence[0].event.signature!.bytes[5] ^= 1 }
    edit(approved, .notSigned) { $0.evidence[0].event.command.low ^= 1 }
    // The guardian signed a decline.
    edit(declined, .contradiction) { $0.body = .response(other, .approve) }
    edit(declined, .notSigned) {
      $0.body = .response(other, .approve)
      $0.evidence[0].event.body = .decided(
        Decision(question: other.id, choice: ChoiceHeader(id: "approve", answer: .approval)))
    }
    edit(approved, .contradiction) {
      var other = question
      other.choices[0].answer = .denial
      $0.body = .response(other, other.choices[0])
    }
    // Other people in the question, and in the signed part.
    var swapped = question
    swapped.topic = .communication(people: [Subject(handle: Self.eve)], actions: .chat)
    edit(approved, .contradiction) { $0.body = .response(swapped, choice) }
    edit(approved, .contradiction) {
      $0.body = .response(swapped, choice)
      $0.evidence[0].tags!.items[0].item = Self.eve.item
    }
    let made = KeyVault.Public().tags(
      of: swapped, in: SignedFamily.app, Array(repeating: 1, count: 32))
    edit(approved, .contradiction) {
      $0.body = .response(swapped, choice)
      $0.evidence[0].tags = made
    }
    edit(approved, .notSigned) {
      $0.body = .response(swapped, choice)
      $0.evidence[0].tags = made
      $0.evidence[0].question!.subjects = KeyVault.Public().subjects(made)
    }
    // The evidence of another question, and the same people under another question id.
    edit(approved, .contradiction) { $0.evidence = declined.evidence }
    var renamed = question
    renamed.id = QuestionID(high: 9, low: 9)
    edit(approved, .contradiction) { $0.body = .response(renamed, choice) }
    for (index, (edit, problem)) in edits.enumerated() {
      let told = tell(edit, home)
      #expect(told.known == ["ada"], "\(index)")
      #expect(told.problems == [problem] && told.told == [problem], "\(index)")
      #expect(told.answers == 2, "\(index)")
    }
  }

  @Test("X3: known handles, withdrawals and consent need evidence signed by a guardian")
  func others() {
    var home = SignedFamily()
    home.guardian(1, .changeContact(child: SignedFamily.emily, Handle("pa", .custom), known: true))
    home.guardian(1, .changeContact(child: SignedFamily.emily, Handle("ma", .custom), known: false))
    home.answer(home.ask("ada"), "approve")
    let contact = home.toldEntries.first { if case .known = $0.body { true } else { false } }!
    let attempts: [(AppEntry.Body, [Evidence], Problem)] = [
      (.known([Self.eve]), [], .notSigned),
      (.known([Self.eve]), contact.evidence, .contradiction),
      (.known([Handle("pa", .custom), Self.eve]), contact.evidence, .contradiction),
      (.forgotten([Handle("ada", .custom)]), [], .notSigned),
      (.forgotten([Handle("ada", .custom)]), contact.evidence, .contradiction),
      (.consentWithdrawn, [], .notSigned),
      (.consentWithdrawn, contact.evidence, .contradiction),
      (
        .known([Handle("pa", .custom)]),
        contact.evidence.map {
          var other = $0
          other.key[0] ^= 1
          return other
        }, .cannotOpen
      ),
    ]
    for (body, evidence, problem) in attempts {
      let told = tell(AppEntry(position: 0, body: body, evidence: evidence), home)
      #expect(told.known == ["ada", "pa"] && told.problems == [problem], "\(body)")
    }
    // A reset needs the same evidence.
    var home2 = home
    home2.tell(.reset(position: 99, known: [Handle("pa", .custom), Self.eve]), 3)
    #expect(home2.known() == ["pa"] && home2.appProblems[3] == [.notSigned])
    #expect(!home2.apps[3]!.isConsentWithdrawn)
  }

  @Test("K3, X3: entries for an earlier process of the app are neither rejected nor lost")
  func early() {
    var home = SignedFamily()
    let question = home.ask("ada")
    home.answer(question, "approve")
    var first = entry(question, home)
    first.position = 1
    var machine = AppMachine(SignedFamily.app, trusting: (home.appSecurity, KeyVault.Public()))
    _ = machine.step(.connected)
    // Nothing verifies before the rosters, which follow the reply to this process's attach.
    let proofs = home.children[3]!.link.rosterProofs
    #expect(machine.step(.reply(.entry(first))).isEmpty)
    #expect(machine.step(.reply(.roster(proofs.last!))).isEmpty)
    for reply in [.attached(acknowledged: 0)] + proofs.map({ AppReply.roster($0) }) {
      for effect in machine.step(.reply(reply)) {
        if case .rejected(let problem) = effect { Issue.record("\(problem)") }
      }
    }
    _ = machine.step(.reply(.entry(first)))
    #expect(machine.known.sorted() == [Handle("ada", .custom)])
  }

  @Test("X3: an app rejects approvals for another child, family or app, or by a removed guardian")
  func elsewhere() {
    var home = SignedFamily()
    let question = home.ask("ada")
    home.answer(question, "approve")
    let entry = entry(question, home)
    // The same entry for an app of another child, of another family, and for another app.
    for (child, family, app, problem) in [
      (PersonID(7), SignedFamily.family, SignedFamily.app, Problem.notSigned),
      (SignedFamily.emily, FamilyID(2), SignedFamily.app, .notSigned),
      (SignedFamily.emily, SignedFamily.family, AppID("example.other"), .contradiction),
    ] {
      var machine = AppMachine(
        app,
        trusting: (
          AppSecurity(family: family, child: child, organizerKey: home.keys[1]!.signingKey),
          KeyVault.Public()
        ))
      _ = machine.step(.reply(.attached(acknowledged: 0)))
      for proof in home.children[3]!.link.rosterProofs { _ = machine.step(.reply(.roster(proof))) }
      var first = entry
      first.position = 1
      let effects = machine.step(.reply(.entry(first)))
      #expect(machine.known.sorted() == [] && effects.contains(.rejected(problem)))
    }
    // Alex is removed and signs afterwards.
    let late = home.ask("eve")
    let header = home.header(late)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    let decision = Event.Body.decided(
      Decision(question: late, choice: ChoiceHeader(id: "approve", answer: .approval)))
    let id = CommandID(high: UInt64(home.now.milliseconds + 5) << 16, low: 3)
    for (signer, isBelieved) in [(UInt32(2), false), (3, false), (5, false), (1, true)] {
      var home = home
      let signature = home.sign(decision, id, as: signer, about: header)
      let event = home.forged(decision, by: signer, id: id, signature: signature)
      home.tell(.entry(next(home.approval(of: late, provenBy: event), home)), 3)
      #expect(home.known() == (isBelieved ? ["ada", "eve"] : ["ada"]), "\(signer)")
      #expect(home.appProblems[3] == (isBelieved ? nil : [.notSigned]), "\(signer)")
    }
  }

  @Test("X3: a repeated approval from before a withdrawal makes nothing known")
  func replayed() {
    var home = SignedFamily()
    let question = home.ask("ada")
    home.answer(question, "approve")
    home.now = home.now + .seconds(1)
    let approval = entry(question, home)
    home.guardian(1, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: nil)))
    #expect(home.known() == [])
    for body in [approval.body, .known([Handle("ada", .custom)])] {
      let again = AppEntry(position: 0, body: body, evidence: approval.evidence)
      #expect(tell(again, home).known == [])
    }
    // The same holds in a new process of the app.
    home.startApp(on: 3)
    #expect(tell(approval, home).known == [])
  }

  @Test(
    "X3: an app pins the first organizer key, verifies rosters from it, and rejects old rosters")
  func pinned() {
    var home = SignedFamily()
    home.answer(home.ask("ada"), "approve")
    // A device with another organizer's key and its own family.
    let stranger = SignedFamily()
    home.appRoot = stranger.keys[1]!.signingKey
    home.startApp(on: 3)
    #expect(home.appProblems[3]?.first == .otherFamily && home.known() == ["ada"])
    let forged = stranger.children[3]!.link.rosterProofs[0]
    var app = home
    app.appProblems = [:]
    app.startApp(on: 3)
    app.tell(.roster(forged), 3)
    #expect(app.appProblems[3]?.last == .replayed)
    // The organizer's key alone verifies the first roster.
    var machine = AppMachine(
      SignedFamily.app, trusting: (home.appSecurity, KeyVault.Public()),
      restoring: [.pinned(SignedFamily.security(home.keys[1]!))])
    _ = machine.step(.reply(.attached(acknowledged: 0)))
    #expect(machine.step(.reply(.roster(forged))).contains(.rejected(.notSigned)))
    var proof = home.children[3]!.link.rosterProofs[0]
    proof.roster.devices[0].signingKey = stranger.keys[1]!.signingKey
    #expect(machine.step(.reply(.roster(proof))).contains(.rejected(.notSigned)))
    proof = home.children[3]!.link.rosterProofs[0]
    #expect(!machine.step(.reply(.roster(proof))).hasProblem)
    // A roster that a child's device signed.
    var next = proof
    next.seq += 50
    let known = Knowledge(roster: home.digestOfRoster())
    next.signature = Signature(
      signer: DeviceID(3), knowing: known, bytes: next.signature.bytes)
    #expect(machine.step(.reply(.roster(next))).contains(.rejected(.notSigned)))
    next.signature.known.roster = ChainHash()
    #expect(machine.step(.reply(.roster(next))).contains(.rejected(.replayed)))
  }

  @Test("X3: without verification, the same lies make the handle known")
  func mutant() {
    var home = SignedFamily(appVerifies: false)
    home.answer(home.ask("ada"), "approve")
    let told = tell(AppEntry(position: 0, body: .known([Self.eve])), home)
    #expect(told.known == ["ada", "eve"] && told.problems == [])
  }
}
