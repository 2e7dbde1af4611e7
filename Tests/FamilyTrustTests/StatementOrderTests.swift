import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Statements that a guardian's modified device dates ahead, with the help of a relay that is honest
/// again afterwards.
@Suite struct StatementOrderTests {
  private static let emily = SignedFamily.emily
  private static let conversation = Audience.conversation(emily)
  private let ada = Handle("ada", .custom)

  /// Appends an event of the second guardian, dated a year ahead, to the relay's log.
  private func append(
    _ body: Event.Body, in audience: Audience = Self.conversation,
    about question: QuestionHeader? = nil, to home: inout SignedFamily
  ) {
    let time = home.now + .days(365)
    let id = CommandID(high: UInt64(time.milliseconds) << 16, low: UInt64(home.log.count))
    var event = home.forged(
      body, in: audience, by: 2, id: id,
      signature: home.sign(body, id, audience, as: 2, about: question))
    event.at = time
    home.storeUnchecked(event)
  }

  private func approval(_ question: QuestionID) -> Event.Body {
    .decided(Decision(question: question, choice: ChoiceHeader(id: "approve", answer: .approval)))
  }

  @Test("T2, R9: an approval dated a year ahead is withdrawn at once, on devices and in apps")
  func approval() {
    var home = SignedFamily()
    let question = home.ask("ada")
    append(approval(question), about: home.header(question), to: &home)
    #expect(home.known() == ["ada"] && home.known(4) == ["ada"])
    home.guardian(1, .withdraw(child: Self.emily, .handle(ada, in: nil)))
    home.wait(.seconds(5))
    #expect(home.known() == [] && home.known(4) == [])
    let again = home.ask("ada")
    home.wait(.seconds(5))
    home.answer(again, "approve")
    home.wait(.seconds(5))
    #expect(home.known() == ["ada"] && home.known(4) == ["ada"])
    home.guardian(1, .withdraw(child: Self.emily, .handle(ada, in: nil)))
    home.wait(.seconds(5))
    // The device and the app also agree after a restart.
    home.restore(3)
    home.connect(3)
    #expect(!home.children[3]!.knownHandles(in: SignedFamily.app).contains(ada))
    #expect(home.known() == [] && home.known(4) == [])
    #expect(home.problems == [:] && home.appProblems == [:])
  }

  @Test("T2: limits, a passcode and a consent dated a year ahead are changed at once")
  func others() {
    var home = SignedFamily()
    append(.limitsChanged(child: Self.emily, on: false), to: &home)
    home.guardian(1, .setLimits(child: Self.emily, on: true))
    home.wait(.seconds(5))
    let planted = Passcode(
      salt: Array(repeating: 0, count: 16), logCost: 4, publicKey: DeviceKeys().signingKey,
      relayKey: PasscodeEvaluator.ideal.publicKey(PasscodeEvaluator.ideal.makeSecret()))
    append(.passcodeChanged(planted), in: .family, to: &home)
    #expect(home.children[3]!.link.passcode == planted)
    let secret = DeviceKeys()
    home.choosePasscode(secret)
    home.wait(.seconds(5))
    for id: UInt32 in [3, 4] {
      let link = home.children[id]!.link
      #expect(link.conversations[Self.emily]?.limitsOn == true)
      #expect(link.passcode?.publicKey == secret.signingKey)
    }
    let relay = home.relay.state(of: SignedFamily.family)!
    #expect(relay.passcode == home.children[3]!.link.passcode)
    #expect(home.problems == [:])
  }

  @Test("T10: a late command of an offline guardian changes neither relay nor devices")
  func offline() {
    var home = SignedFamily()
    home.disconnect(1)
    home.guardian(1, .setLimits(child: Self.emily, on: false))
    home.now = home.now + .minutes(5)
    home.guardian(2, .setLimits(child: Self.emily, on: true))
    home.connect(1)
    home.wait(.seconds(5))
    for link in [
      home.guardians[1]!.link, home.guardians[2]!.link, home.children[3]!.link,
      home.children[4]!.link,
    ] {
      #expect(link.conversations[Self.emily]?.limitsOn == true)
      #expect(link.pendingCommands.isEmpty)
    }
    // The child's question therefore reaches the guardians, and has no default answer.
    let question = home.ask("ada")
    #expect(home.guardians[2]!.question(question) != nil && home.answers == [:])
  }

  @Test("T10: the relay refuses a passcode whose signer did not know the present one")
  func passcodes() throws {
    var home = SignedFamily()
    home.choosePasscode(DeviceKeys())
    let present = try #require(home.relay.state(of: SignedFamily.family)?.passcode)
    let other = Passcode(
      salt: present.salt, logCost: 4, publicKey: DeviceKeys().signingKey,
      relayKey: present.relayKey)
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 9)
    let signature = home.sign(.passcodeChanged(other), id, .family, as: 2)
    #expect(home.request(2, 50, .command(id, .setPasscode(other), signature)) == .stale)
    #expect(home.relay.state(of: SignedFamily.family)?.passcode == present)
    #expect(home.children[3]!.link.passcode == present)
  }
}
