import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// An app learns about the handles that it names, and about no other.
@Suite struct NamingTests {
  private static let grandma = Handle("+15550177", .phoneNumber)
  private static let aunt = Handle("aunt@example.org", .emailAddress)

  private func isSeen(_ handle: Handle, in home: SignedFamily) -> Bool {
    home.toApp.contains { $0.contains(Array(handle.canonical.value.utf8)) }
  }

  private func setContact(_ handle: Handle, _ isKnown: Bool, _ home: inout SignedFamily) {
    home.guardian(1, .changeContact(child: SignedFamily.emily, handle, known: isKnown))
  }

  @Test("K6: an app receives a contact when it names the contact, and not before")
  func contacts() {
    var home = SignedFamily()
    setContact(Self.grandma, true, &home)
    setContact(Self.aunt, true, &home)
    #expect(home.children[3]!.knownHandles(in: SignedFamily.app).count == 2)
    #expect(home.known() == [] && !isSeen(Self.grandma, in: home) && !isSeen(Self.aunt, in: home))
    home.app(3, .name([Self.grandma]))
    #expect(home.known() == ["+15550177"] && !isSeen(Self.aunt, in: home))
    #expect(home.apps[3]!.unconfirmed.isEmpty && home.appProblems == [:])
  }

  @Test("K6: an unknown handle that the app has named becomes known with a later decision")
  func later() {
    var home = SignedFamily()
    home.app(3, .name([Self.grandma]))
    #expect(home.known() == [])
    setContact(Self.grandma, true, &home)
    #expect(home.known() == ["+15550177"])
    setContact(Self.grandma, false, &home)
    setContact(Self.aunt, true, &home)
    setContact(Self.aunt, false, &home)
    #expect(home.known() == [] && !isSeen(Self.aunt, in: home) && home.appProblems == [:])
  }

  @Test("K5, K6: of another app's question, an app sees those people only that it has named")
  func otherApp() throws {
    var home = SignedFamily()
    home.answer(home.ask(handles: [Self.grandma, Self.aunt]), "approve")
    let other = AppID("example.other")
    let link = home.children[3]!.link
    let command = home.event { if case .decided = $0 { true } else { false } }.name
    let evidence = link.evidence([command], for: other, named: [Self.grandma])
    let bytes = AppReply.evidence(evidence).encode()
    #expect(bytes.contains(Array(Self.grandma.value.utf8)))
    #expect(!bytes.contains(Array(Self.aunt.value.utf8)))
    var app = AppMachine(other, trusting: (home.appSecurity, KeyVault.Public()))
    _ = app.step(.reply(.attached(acknowledged: 0)))
    for proof in link.rosterProofs { _ = app.step(.reply(.roster(proof))) }
    let entry = AppEntry(position: 1, body: .known([Self.grandma]), evidence: evidence)
    #expect(!app.step(.reply(.entry(entry))).contains(.rejected(.contradiction)))
    #expect(app.known.sorted() == [Self.grandma])
  }

  @Test("K3, K6: the same app on another device of the child learns the people that it names there")
  func otherDevice() {
    var home = SignedFamily(connected: [1, 2, 3])
    home.answer(home.ask(handles: [Self.grandma, Self.aunt]), "approve")
    home.connect(4)
    // The response names its people on each device.
    #expect(home.known(4) == ["+15550177", "aunt@example.org"] && home.appProblems == [:])
    // A device that lost its store has no names.
    home.machines.disks[4] = [:]
    home.restore(4)
    home.connect(4)
    #expect(home.known(4) == ["+15550177", "aunt@example.org"])
    // The app waited for the rosters.
    #expect(home.appProblems == [4: [.forked]])
  }

  @Test("K6: names survive a restart of the app, and an app that lost its state names again")
  func restarts() {
    var home = SignedFamily()
    setContact(Self.grandma, true, &home)
    home.app(3, .name([Self.grandma]))
    home.startApp(on: 3)
    #expect(home.apps[3]!.named.contains(Self.grandma) && home.known() == ["+15550177"])
    setContact(Self.aunt, true, &home)
    home.appDisks[3] = [:]
    home.startApp(on: 3)
    #expect(home.known() == ["+15550177"] && !isSeen(Self.aunt, in: home))
    home.restore(3)
    home.connect(3)
    setContact(Self.grandma, false, &home)
    #expect(home.known() == [] && home.appProblems == [:])
  }

  @Test("K6: a handle is named in its canonical form")
  func canonical() {
    var home = SignedFamily()
    setContact(Handle("+1 (555) 0177", .phoneNumber), true, &home)
    home.child(3, .app(SignedFamily.app, .name([Handle("+1 555 0177", .phoneNumber)])))
    #expect(home.known() == [Handle("+1 555 0177", .phoneNumber).canonical.value])
  }

  @Test("K1, K6: a withdrawal in another Unicode form reaches the app")
  func otherForm() {
    var home = SignedFamily()
    let (decomposed, composed) = (Handle("Zoe\u{308}", .custom), Handle("Zo\u{EB}", .custom))
    home.answer(home.ask(decomposed.value), "approve", by: 1)
    home.child(3, .app(SignedFamily.app, .name([decomposed])))
    #expect(home.known().count == 1)
    home.guardian(1, .withdraw(child: SignedFamily.emily, .handle(composed, in: SignedFamily.app)))
    home.wait(.seconds(5))
    #expect(home.known() == [])
    #expect(home.children[3]!.knownHandles(in: SignedFamily.app).isEmpty)
  }

  @Test("K6: names above the limit stay unknown, but responses name their people")
  func limit() {
    var feed = AppFeed(SignedFamily.app)
    let many = (0...Limits.namedHandles).map { Handle("person-\($0)", .custom) }
    #expect(feed.name(many, limit: Limits.namedHandles).new.count == Limits.namedHandles)
    #expect(feed.name([Self.aunt], limit: Limits.namedHandles).changes.isEmpty)
    #expect(feed.name([Self.aunt], limit: nil).new == [Self.aunt])
    var app = AppMachine(SignedFamily.app)
    _ = app.step(.connected)
    let requests = app.step(.name(many))
    #expect(requests.count == Limits.namedHandles / Limits.namesInMessage)
    #expect(app.step(.name([Self.aunt])).isEmpty && !app.unconfirmed.contains(Self.aunt))
  }

  @Test("K6: the device confirms the names that it recorded, and none above the limit")
  func confirmed() {
    var home = SignedFamily()
    let many = (0...Limits.namedHandles).map { Handle("person-\($0)", .custom) }
    func confirm(_ handles: [Handle]) -> Int {
      AppRequest.naming(handles).reduce(0) { count, request in
        let effects = home.machines.children[3]!.step(
          .app(SignedFamily.app, request), now: home.machines.now)
        return effects.reduce(count) {
          if case .app(_, .named(let handles)) = $1 { $0 + handles.count } else { $0 }
        }
      }
    }
    let room = Limits.namedHandles - SignedFamily.named.count
    #expect(confirm(many) == room)
    #expect(confirm([many[0], Self.aunt]) == 1)
  }

  @Test("K6, M1: a message with more names than the limit is refused")
  func tooMany() throws {
    let many = (0...Limits.namesInMessage).map { Handle("person-\($0)", .custom) }
    #expect(throws: Problem.tooLarge) {
      try AppRequest.name(many).encode().withUnsafeBytes { try AppRequest.decode($0) }
    }
    #expect(AppRequest.naming(many).count == 2)
  }
}
