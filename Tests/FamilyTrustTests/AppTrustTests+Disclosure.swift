import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Facts that an app learns about other apps and about answers given in person.
extension AppTrustTests {
  @Test("X3: an app sees no name, and of another app's question only numbers and addresses")
  func privacy() {
    var home = SignedFamily()
    home.answer(home.ask("dragonslayer42"), "approve")
    home.guardian(
      1, .changeContact(child: SignedFamily.emily, Handle("+15550100", .phoneNumber), known: true))
    let frames = home.toApp
    func isSeen(_ text: String) -> Bool { frames.contains { $0.contains(Array(text.utf8)) } }
    for name in ["Rosa", "Alex", "Emily"] { #expect(!isSeen(name), "\(name)") }
    for keys in home.keys.values {
      #expect(!frames.contains { $0.contains(keys.agreementKey) })
    }
    #expect(isSeen("dragonslayer42") && isSeen("+15550100"))
    // The evidence of the same decision for another app of the device.
    let command = home.event { if case .decided = $0 { true } else { false } }.name
    let link = home.children[3]!.link
    let own = link.evidence([command], for: SignedFamily.app, named: HandleSet(SignedFamily.named))[
      0]
    let other = link.evidence(
      [command], for: AppID("example.other"), named: HandleSet(SignedFamily.named))[0]
    let bytes = AppReply.evidence([other]).encode()
    for text in ["dragonslayer42", "example.landmarks"] {
      #expect(!bytes.contains(Array(text.utf8)), "\(text)")
      let shown = AppReply.evidence([own]).encode() + AppReply.entry(entryFor(own)).encode()
      #expect(text == "example.landmarks" || shown.contains(Array(text.utf8)))
    }
  }

  @Test("K1, K6: an app receives neither the name of a contact nor the event that sets it")
  func contactNames() {
    var home = SignedFamily()
    let phone = Handle("+15550100", .phoneNumber)
    home.guardian(1, .changeContact(child: SignedFamily.emily, phone, known: true))
    home.guardian(1, .nameContact(child: SignedFamily.emily, phone, "Grandma"))
    #expect(home.children[3]!.conversation?.name(of: phone) == "Grandma")
    // An app that lost its state receives all evidence.
    home.appDisks[3] = [:]
    home.startApp(on: 3)
    #expect(home.known() == ["+15550100"])
    func seen(_ event: Event) -> Bool { home.toApp.contains { $0.contains(event.command.bytes) } }
    let changes = home.log.filter { if case .contactChanged = $0.body { true } else { false } }
    #expect(changes.map(seen) == [true, false])
  }

  private func entryFor(_ evidence: Evidence) -> AppEntry {
    AppEntry(position: 1, body: .known([]), evidence: [evidence])
  }

  @Test("K5, X3: a number approved in one app is verified and known in another app")
  func everywhere() throws {
    var home = SignedFamily()
    let phone = Handle("+1 555 0100", .phoneNumber)
    let question = home.ask(handles: [phone, Handle("ada", .custom)])
    home.answer(question, "approve")
    let link = home.children[3]!.link
    let other = AppID("example.other")
    let command = home.event { if case .decided = $0 { true } else { false } }.name
    let evidence = link.evidence([command], for: other, named: HandleSet(SignedFamily.named))
    var app = AppMachine(other, trusting: (home.appSecurity, KeyVault.Public()))
    _ = app.step(.reply(.attached(acknowledged: 0)))
    for proof in link.rosterProofs { #expect(!app.step(.reply(.roster(proof))).hasProblem) }
    _ = app.step(
      .reply(.entry(AppEntry(position: 1, body: .known([phone.canonical]), evidence: evidence))))
    #expect(app.known.sorted() == [phone.canonical])
    let lie = app.step(
      .reply(
        .entry(
          AppEntry(position: 2, body: .known([Handle("ada", .custom)]), evidence: evidence))))
    #expect(lie.contains(.rejected(.contradiction)) && app.known.sorted() == [phone.canonical])
  }

  @Test(
    "K3, X3: an approval that arrives after a later withdrawal makes only the other handles known")
  func late() {
    var home = SignedFamily()
    let phones = ["+15550100", "+15550199"].map { Handle($0, .phoneNumber) }
    home.answer(home.ask(handles: phones), "approve")
    let link = home.children[3]!.link
    let command = home.event { if case .decided = $0 { true } else { false } }.name
    let other = AppID("example.other")
    var app = AppMachine(other, trusting: (home.appSecurity, KeyVault.Public()))
    _ = app.step(.reply(.attached(acknowledged: 0)))
    for proof in link.rosterProofs { #expect(!app.step(.reply(.roster(proof))).hasProblem) }
    // The device knows that the first handle was withdrawn and sends the second only.
    let entry = AppEntry(
      position: 1, body: .known([phones[1]]),
      evidence: link.evidence([command], for: other, named: HandleSet(SignedFamily.named)))
    _ = app.step(.reply(.entry(entry)))
    #expect(app.known.sorted() == [phones[1]])
    _ = app.step(.reply(.evidence(entry.evidence)))
    #expect(app.known.sorted() == [phones[1]])
  }

  @Test("A4, X3: an app accepts an in-person answer only with the child's device's signature")
  func inPerson() {
    var home = SignedFamily()
    let secret = DeviceKeys()
    home.choosePasscode(secret)
    home.inPerson("ada", passcode: secret)
    #expect(home.known() == ["ada"] && home.known(4) == ["ada"] && home.appProblems == [:])
    let entry = home.toldEntries.last { if case .response = $0.body { true } else { false } }!
    var edited = entry
    edited.evidence[0].event.signature!.signer = DeviceID(4)
    edited.evidence[0].event.device = DeviceID(4)
    #expect(tell(edited, home).problems == [.notSigned])
    #expect(tell(entry, home).problems == [])
  }

  @Test(
    "Q8, K1: a default makes nothing known; a permissive one must answer this app's question")
  func defaults() {
    var home = SignedFamily()
    home.guardian(1, .setLimits(child: SignedFamily.emily, on: false))
    home.ask(handles: [Handle("ada", .custom)], default: .approve)
    #expect(home.answers[3]?.map(\.id) == ["approve"] && home.known() == [])
    home.ask("ben")
    #expect(home.answers[3]?.map(\.id) == ["approve", "decline"] && home.appProblems == [:])
    var made = Question(
      id: QuestionID(high: 4, low: 4),
      topic: .communication(people: [Subject(handle: Self.eve)], actions: .chat))
    made.defaultChoice = .approve
    let told = tell(AppEntry(position: 0, body: .response(made, .approve)), home)
    #expect(told.problems == [.notSigned] && told.answers == 2 && told.known == [])
  }
}
