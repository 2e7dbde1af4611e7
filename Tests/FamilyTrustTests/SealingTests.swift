import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// Readers of sealed contents.
@Suite struct SealingTests {
  @Test("X3: a complete approval shows the relay no handle, message, contact or birthdate")
  func frames() {
    var home = SignedFamily()
    let account = Account(
      birthdate: .init(year: 2014, month: 5, day: 17), region: "NZ",
      declaration: .guardianDeclared)
    home.guardian(1, .setAccount(SignedFamily.emily, account))
    home.guardian(
      1, .changeContact(child: SignedFamily.emily, Handle("grandpa", .custom), known: true))
    let question = home.ask("dragonslayer42")
    home.guardian(2, .post(child: SignedFamily.emily, "who is that?"))
    home.answer(question, "approve")
    home.guardian(
      2, .withdraw(child: SignedFamily.emily, .handle(Handle("grandpa", .custom), in: nil)))
    #expect(home.known() == ["dragonslayer42"] && home.problems == [:])
    let secrets =
      ["grandpa", "dragonslayer42", "who is that?"].map { Array($0.utf8) } + [
        Content.account(account).bytes
      ]
    let seen = home.frames + home.log.map { $0.encode() }
    #expect(seen.count > 20)
    for secret in secrets {
      #expect(!seen.contains { $0.contains(secret) }, "\(String(decoding: secret, as: UTF8.self))")
    }
    // The same search finds unsealed values.
    #expect(seen.contains { $0.contains(Array("example.landmarks".utf8)) })
  }

  @Test("D13: the relay sees no identifier, name or rating of a listed app") func apps() throws {
    var home = SignedFamily()
    let app = AppID("example.diary")
    home.machines.children[3] = ChildMachine(
      home.address(3), of: SignedFamily.emily, apps: [app],
      manifests: [app: AppManifest(ageRating: .nine, name: "Secret Diary")],
      security: home.security(3), restoring: home.machines.records(of: 3),
      ids: home.machines.newIDs())
    home.connect(3)
    let listed = ListedApp(app: app, name: "Secret Diary", rating: .nine)
    for guardian: UInt32 in [1, 2] {
      let link = home.guardians[guardian]!.link
      #expect(link.apps(of: SignedFamily.emily).contains { $0.listed == listed })
    }
    #expect(home.problems == [:])
    let seen = home.frames + home.log.map { $0.encode() }
    for secret in [Array("diary".utf8), Array("Diary".utf8), Content.apps([listed]).bytes] {
      #expect(!seen.contains { $0.contains(secret) })
    }
  }

  @Test("A5: refuses messages for a conversation that does not exist, instead of keeping them")
  func nobody() {
    var home = SignedFamily()
    // For example, a message to a child who has left the family.
    home.guardian(2, .post(child: PersonID(1), "are you there?"))
    #expect(home.guardians[2]!.link.pendingCommands.isEmpty)
    // The device makes no key for an audience that it may not read.
    let ring = home.guardians[2]!.link.verifier!.ring
    #expect(ring.count(.conversation(PersonID(1))) == 0)
    #expect(!home.log.contains { if case .posted = $0.body { true } else { false } })
  }

  @Test("X3: after a removal the remaining devices use a new key that the removed device lacks")
  func removed() {
    var home = SignedFamily()
    let first = home.ask("ada")
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    let second = home.ask("ben")
    func sealed(_ id: QuestionID) -> ContentKeyID? {
      let event = home.event {
        if case .asked(let header, _) = $0 { header.id == id } else { false }
      }
      return event.body.content.flatMap { KeyVault(home.keys[3]!).keyName(of: $0) }
    }
    #expect(sealed(first) != sealed(second))
    let gone = home.keys[4]!.agreementKey
    let wraps = home.log.flatMap { event -> [KeyWrap] in
      if case .keysShared(let wraps) = event.body { wraps } else { [] }
    }
    #expect(wraps.contains { $0.key == sealed(first) && $0.reader == gone })
    #expect(!wraps.contains { $0.key == sealed(second) && $0.reader == gone })
    home.answer(second, "approve", by: 2)
    #expect(home.known() == ["ben"] && home.problems == [:])
  }

  @Test("X3: a guardian's new device receives the keys from another device and reads the history")
  func newDevice() {
    var home = SignedFamily()
    let asked = home.ask("ada")
    home.guardian(1, .post(child: SignedFamily.emily, "hello"))
    home.answer(asked, "approve")
    let open = home.ask("ben")
    let keys = home.keys
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    home.restore(5)
    home.connect(5)
    home.wait(.seconds(10))
    let conversation = home.guardians[5]!.link.conversations[SignedFamily.emily]
    #expect(conversation?.lines.contains { $0.body == .text("hello") } == true)
    #expect(conversation?.known.all(in: SignedFamily.app).map(\.value) == ["ada"])
    #expect(home.guardians[5]!.open(now: home.now).map(\.question.id) == [open])
    home.answer(open, "approve", by: 5)
    #expect(home.known() == ["ada", "ben"] && home.problems == [:])
    // After a restart it reads the history from its own records.
    home.restore(5)
    #expect(
      home.guardians[5]!.link.conversations[SignedFamily.emily]?.lines.count == conversation!.lines
        .count + 1)
  }

  @Test("X3: a child's new device serves its apps although the keys arrive after the history")
  func newChildDevice() {
    var home = SignedFamily()
    home.answer(home.ask("ada"), "approve")
    let keys = home.keys
    for id: UInt32 in [1, 2, 3, 4] { home.disconnect(id) }
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 3, keys)) } == nil)
    home.restore(5)
    home.connect(5)
    home.wait(.seconds(5))
    #expect(home.known(5) == [])
    home.connect(3)
    home.wait(.seconds(20))
    #expect(home.known(5) == ["ada"] && home.problems == [:])
  }

  @Test("X3: devices use no key that the relay made or shared with itself")
  func foreignKeys() {
    var home = SignedFamily()
    let mallory = DeviceKeys()
    let audience = Audience.conversation(SignedFamily.emily)
    let secret = [UInt8](repeating: 7, count: 32)
    let vault = KeyVault(home.keys[3]!)
    let name = KeyRing.name(of: secret, vault)
    let binding = KeyRing.binding(SignedFamily.family, audience, name)
    func wraps(_ readers: [[UInt8]]) -> [KeyWrap] {
      readers.map {
        KeyWrap(key: name, reader: $0, bytes: vault.wrap(secret, for: $0, binding: binding)!)
      }
    }
    let members = [UInt32(1), 2, 3, 4].map { home.keys[$0]!.agreementKey }
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 3)
    // A forged key share without a member's signature.
    let body = Event.Body.keysShared(wraps(members))
    home.hand(
      home.forged(body, id: id, signature: home.sign(body, id, with: mallory)), to: 3)
    #expect(home.problems[3] == [.notSigned])
    // The relay refuses a member's key share with a stranger, and devices reject it.
    let shared = wraps(members + [mallory.agreementKey])
    let next = CommandID(high: id.high, low: 4)
    let signature = home.sign(.keysShared(shared), next)
    #expect(
      home.request(1, 1, .command(next, .shareKeys(audience, shared), signature)) == .badKeyShare)
    home.hand(home.forged(.keysShared(shared), id: next, signature: signature), to: 2)
    #expect(home.problems[2] == [.badKeyShare])
    let question = home.ask("ada", on: 4)
    home.answer(question, "approve")
    #expect(home.known(4) == ["ada"])
    for event in home.log {
      if let content = event.body.content { #expect(vault.keyName(of: content) != name) }
    }
  }

  @Test("A6: the relay refuses a repeated question by its digest, without knowing the people")
  func digest() {
    var home = SignedFamily()
    home.disconnect(4)
    let first = home.ask("ada", "ben")
    let header = home.header(first)
    #expect(header.subjects.count == 32)
    let other = home.ask("ben", "ada", on: 3)
    #expect(home.relay.state(of: SignedFamily.family)!.questions[other] == nil)
    #expect(home.frames.allSatisfy { !$0.contains(Array("ben".utf8)) })
  }
}
