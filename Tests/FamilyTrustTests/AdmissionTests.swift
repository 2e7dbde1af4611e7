import FamilyCore
import FamilyModel
import FamilyTrust
import Synchronization
import Testing

/// A vault that counts its operations.
private final class CountingVault: DeviceVault {
  let made = Mutex(0)
  private let vault: KeyVault
  init(_ vault: KeyVault) { self.vault = vault }

  private func counted<R>(_ result: R) -> R {
    made.withLock { $0 += 1 }
    return result
  }
  func sign(_ bytes: [UInt8]) -> [UInt8] { counted(vault.sign(bytes)) }
  func makeKey() -> [UInt8] { counted(vault.makeKey()) }
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content {
    counted(vault.seal(content, name, key, binding: binding))
  }

  var agreementKey: [UInt8] { vault.agreementKey }
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    vault.verify(publicKey, signature, bytes)
  }
  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    vault.open(content, key, binding: binding)
  }
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] { vault.digest(bytes, under: key) }
  func bytes(of content: Content) -> [UInt8] { vault.bytes(of: content) }
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? {
    vault.wrap(key, for: reader, binding: binding)
  }
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    vault.unwrap(wrapped, binding: binding)
  }
  func keyName(of content: Content) -> ContentKeyID? { vault.keyName(of: content) }
}

@Suite struct AdmissionTests {
  /// A family whose child's device counts its vault's operations and queues its questions.
  private func home() -> (SignedFamily, CountingVault) {
    var home = SignedFamily()
    home.disconnect(3)
    let vault = CountingVault(KeyVault(home.keys[3]!, sharing: home.verified))
    home.restore(3, Security(vault, organizerKey: home.keys[1]!.signingKey))
    home.connect(3)
    home.admitsQuestions = false
    return (home, vault)
  }

  /// Lets the device share the conversation's key with an earlier question.
  private func makeKey(_ home: inout SignedFamily) {
    home.admitsQuestions = true
    home.ask("ben")
    home.admitsQuestions = false
  }

  private func questions(_ home: SignedFamily) -> Int {
    home.log.count { if case .asked = $0.body { true } else { false } }
  }

  @Test(
    "a question that waits for admission is neither sealed nor signed and makes no key")
  func waits() throws {
    var (home, vault) = home()
    let before = vault.made.withLock { $0 }
    home.ask("maria")
    home.wait(.minutes(5))
    #expect(vault.made.withLock { $0 } == before)
    let wanted = home.wantingToAsk
    // The device requests admission at once, and again every 30 seconds without an answer.
    #expect(wanted.count == 11 && Set(wanted).count == 1)

    home.child(3, .admitted(try #require(wanted.first)))
    // A key, the signature of its share, the question's seal, and its signature.
    #expect(vault.made.withLock { $0 } == before + 4)
    #expect(questions(home) == 1 && home.children[3]!.link.pendingCommands.isEmpty)
  }

  @Test(
    "an admission that arrives while the device is offline is not used; it requests another one")
  func offline() throws {
    var (home, _) = home()
    home.ask("maria")
    let question = try #require(home.wantingToAsk.first)
    home.disconnect(3)
    #expect(home.children[3]!.step(.admitted(question), now: home.now) == [])
    home.connect(3)
    #expect(home.wantingToAsk == [question, question])
    home.child(3, .admitted(question))
    #expect(questions(home) == 1)
    #expect(home.children[3]!.step(.admitted(question), now: home.now) == [])
  }

  @Test("R8: a question that is cancelled while it waits for admission is never sent")
  func cancelled() throws {
    var (home, _) = home()
    let question = home.ask("maria")
    let wanted = try #require(home.wantingToAsk.first)
    home.child(3, .cancel(question))
    #expect(home.children[3]!.link.pendingCommands.isEmpty)
    #expect(!home.machines.records(of: 3).contains { if case .outbox = $0 { true } else { false } })
    home.child(3, .admitted(wanted))
    home.wait(.minutes(5))
    #expect(questions(home) == 0 && home.refused[3] == nil)
    // The question can be asked again.
    home.admitsQuestions = true
    home.ask("maria")
    #expect(questions(home) == 1)
  }

  @Test("R8: a question that an overloaded relay refused is cancelled without another message")
  func overloaded() throws {
    var (home, _) = home()
    makeKey(&home)
    let question = home.ask("maria")
    let wanted = try #require(home.wantingToAsk.last)
    home.away.insert(3)
    home.child(3, .admitted(wanted))
    home.away.remove(3)
    home.child(3, .reply(0, .refused(wanted, .overloaded)))
    home.child(3, .cancel(question))
    home.wait(.minutes(5))
    #expect(questions(home) == 1 && home.refused[3] == nil)
    #expect(home.children[3]!.link.pendingCommands.isEmpty)
  }

  @Test(
    "R8: a cancellation of a question that the relay may have waits for it, however late it arrives",
    arguments: [false, true])
  func lost(isRestarted: Bool) throws {
    var (home, _) = home()
    makeKey(&home)
    let question = home.ask("maria")
    home.away.insert(3)
    home.child(3, .admitted(try #require(home.wantingToAsk.last)))
    if isRestarted { home.restore(3) } else { home.child(3, .disconnected) }
    home.child(3, .cancel(question))
    #expect(home.children[3]!.link.pendingCommands.count == 2)
    // Longer than the attempts of a command about a question that nobody knows.
    home.connect(3)
    home.wait(.minutes(10))
    #expect(questions(home) == 1 && home.refused[3] == nil)
    home.child(3, .admitted(try #require(home.wantingToAsk.last)))
    #expect(questions(home) == 2 && home.refused[3] == nil)
    home.wait(.minutes(1))
    #expect(home.log.contains { if case .cancelled(question) = $0.body { true } else { false } })
    #expect(home.children[3]!.link.pendingCommands.isEmpty)
  }

  @Test("answers and messages need no admission")
  func others() {
    var (home, _) = home()
    home.child(3, .post("Hello"))
    #expect(home.log.contains { if case .posted = $0.body { true } else { false } })
    #expect(home.wantingToAsk.isEmpty)
  }
}
