import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// Devices of this version beside a device and a relay of a later one.
@Suite struct NewerVersionTests {
  private static let audience = Audience.conversation(SignedFamily.emily)
  /// A kind that no relay needs to know, and one that only a newer relay accepts.
  private static let statement = OpaqueBody(kind: 1_000, bytes: [10, 3, 1, 2, 3])
  private static let enforced = OpaqueBody(kind: 300, bytes: [8, 1])

  /// The device of a later version sends a command that this version does not know.
  private func state(
    _ home: inout SignedFamily, _ body: OpaqueBody = Self.statement,
    in audience: Audience = Self.audience,
    by device: UInt32 = 2, with keys: DeviceKeys? = nil
  ) -> Problem? {
    let id = id(home)
    let signature = home.sign(
      .opaque(body), id, audience, as: device, with: keys, basedOnSeq: home.rosterSeq)
    return home.request(device, 1, .command(id, .opaque(audience, body), signature))
  }

  /// A newer relay accepts an event of a kind that this version does not know.
  private func accept(
    _ home: inout SignedFamily, _ body: OpaqueBody = Self.enforced, isSigned: Bool = true
  ) {
    let id = id(home)
    let signature = home.sign(
      .opaque(body), id, Self.audience, as: 2, with: isSigned ? nil : DeviceKeys(),
      basedOnSeq: home.rosterSeq)
    home.storeUnchecked(home.forged(.opaque(body), by: 2, id: id, signature: signature))
  }

  private func id(_ home: SignedFamily) -> CommandID {
    CommandID(high: UInt64(home.now.milliseconds) << 16, low: UInt64(home.log.count) << 8 | 8)
  }

  private func link(_ home: SignedFamily, _ device: UInt32) -> DeviceLink {
    home.children[device]?.link ?? home.guardians[device]!.link
  }

  /// Whether the device has read all events of the conversation.
  private func isUpToDate(_ home: SignedFamily, _ device: UInt32) -> Bool {
    link(home, device).delivered(Self.audience)
      == home.log.last { $0.audience == Self.audience }?.seq
  }

  private func newerLines(_ home: SignedFamily, _ device: UInt32) -> Int {
    link(home, device).conversations[SignedFamily.emily]?.lines.count { $0.body == .newer } ?? 0
  }

  private func approve(_ home: inout SignedFamily, _ handle: String) {
    let id = home.ask(handle)
    home.answer(id, "approve")
  }

  @Test(
    "O5: an event of an unknown kind reaches all devices, and later events count",
    arguments: [true, false])
  func passes(isStatement: Bool) {
    var home = SignedFamily()
    approve(&home, "ada")
    if isStatement { #expect(state(&home) == nil) } else { accept(&home) }
    approve(&home, "ben")
    for device: UInt32 in 1...4 {
      #expect(isUpToDate(home, device) && newerLines(home, device) == 1)
      #expect(link(home, device).newerCount == 1)
    }
    #expect(home.known() == ["ada", "ben"] && home.known(4) == ["ada", "ben"])
    #expect(home.problems == [:] && home.lost.isEmpty && home.appProblems == [:])
  }

  @Test(
    "O5: a page with an unknown kind in its middle brings the events before and after it",
    arguments: [true, false])
  func page(isStatement: Bool) {
    var home = SignedFamily(connected: [1, 2])
    for id: UInt32 in [3, 4] { home.connect(id) }
    home.disconnect(3)
    home.guardian(1, .post(child: SignedFamily.emily, "before"))
    if isStatement { #expect(state(&home) == nil) } else { accept(&home) }
    home.guardian(1, .post(child: SignedFamily.emily, "after"))
    home.connect(3)
    let lines = link(home, 3).conversations[SignedFamily.emily]!.lines.map(\.body)
    #expect(lines == [.text("before"), .newer, .text("after")])
    #expect(isUpToDate(home, 3) && home.problems == [:])
  }

  @Test("O5: the former decoder stops a device at the first event of an unknown kind")
  func formerDecoder() {
    var home = SignedFamily()
    home.formerDecoders = [3]
    approve(&home, "ada")
    #expect(state(&home) == nil)
    approve(&home, "ben")
    home.wait(.minutes(10))
    #expect(!isUpToDate(home, 3) && home.known() == ["ada"])
    home.formerDecoders = []
    home.wait(.minutes(1))
    #expect(isUpToDate(home, 3) && home.known() == ["ada", "ben"])
  }

  @Test("O5: a restarted device keeps the bytes of an unknown kind, and its chain")
  func restart() throws {
    var home = SignedFamily()
    #expect(state(&home) == nil)
    accept(&home)
    let before = link(home, 3).verifier!.head(Self.audience)
    home.disconnect(3)
    home.restore(3)
    #expect(link(home, 3).verifier!.head(Self.audience) == before)
    home.connect(3)
    approve(&home, "ben")
    #expect(isUpToDate(home, 3) && newerLines(home, 3) == 2 && home.known() == ["ben"])
    let kept = home.machines.records(of: 3).compactMap { record -> OpaqueBody? in
      guard case .newer(let event) = record, case .opaque(let body) = event.body else { return nil }
      return body
    }
    #expect(Set(kept) == [Self.statement, Self.enforced])
    #expect(home.problems == [:])
  }

  @Test("O5: an event that this version cannot verify is kept, shown to nobody, and passed")
  func unverified() {
    var home = SignedFamily()
    accept(&home, isSigned: false)
    approve(&home, "ben")
    #expect(isUpToDate(home, 3) && newerLines(home, 3) == 0 && home.known() == ["ben"])
    #expect(home.problems == [:])
    #expect(home.machines.records(of: 3).contains { if case .newer = $0 { true } else { false } })
  }

  @Test("O5: after its update a device applies the contents that its former version did not know")
  func update() throws {
    var home = SignedFamily()
    func start(_ security: Security?) {
      home.disconnect(3)
      home.restore(3, security)
      home.connect(3)
    }
    let former = Security(
      FormerVault(vault: KeyVault(home.keys[3]!)), organizerKey: home.keys[1]!.signingKey,
      snapshots: home.keys[3]!.snapshots)
    start(former)
    for handle in ["ada", "ben"] { approve(&home, handle) }
    home.guardian(
      1, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: SignedFamily.app))
    )
    #expect(home.known() == ["ada", "ben"] && home.known(4) == ["ben"])
    #expect(newerLines(home, 3) == 1 && isUpToDate(home, 3) && home.problems == [:])
    start(former)
    home.guardian(1, .changeContact(child: SignedFamily.emily, Handle("pa", .custom), known: true))
    #expect(newerLines(home, 3) == 1 && home.known() == ["ada", "ben", "pa"])
    #expect(newerRecords(home) == 1)
    start(home.security(3))
    #expect(home.known() == ["ben", "pa"] && home.known(4) == ["ben", "pa"])
    #expect(newerLines(home, 3) == 0 && newerRecords(home) == 0)
    start(home.security(3))
    home.guardian(1, .changeContact(child: SignedFamily.emily, Handle("bob", .custom), known: true))
    #expect(home.known() == ["ben", "bob", "pa"] && isUpToDate(home, 3))
    #expect(home.problems == [:] && home.lost.isEmpty && home.appProblems == [:])
  }

  /// A content of a kind that no version knows: a field 99 with three bytes.
  private static let content = Content.sealed([154, 6, 3, 1, 2, 3])

  @Test("O5: a content of an unknown kind is kept and shown as newer on every device")
  func contents() throws {
    var home = SignedFamily()
    approve(&home, "ada")
    let child = SignedFamily.emily
    let commands: [Command] = [
      .post(child: child, Self.content), .withdraw(child: child, Self.content),
      .changeContact(child: child, Self.content), .changeSettings(child, Self.content, proof: []),
    ]
    for (number, command) in commands.enumerated() {
      let signed = try home.machines.guardians[2]!.prepare(command, id: id(home), now: home.now)
      for (part, command) in signed.enumerated() {
        let request = Request.command(command.id, command.command, command.signature)
        #expect(home.request(2, UInt64(100 + 10 * number + part), request) == nil)
      }
      home.wait(.seconds(2))
    }
    approve(&home, "ben")
    for _ in 0..<2 {
      for device: UInt32 in 1...4 {
        #expect(isUpToDate(home, device) && newerLines(home, device) == 3)
        #expect(link(home, device).newerCount == commands.count)
      }
      #expect(newerRecords(home) == commands.count)
      #expect(home.known() == ["ada", "ben"] && home.known(4) == ["ada", "ben"])
      home.restartAll()
      home.wait(.seconds(5))
    }
    #expect(home.problems == [:] && home.lost.isEmpty && home.appProblems == [:])
  }

  @Test("O5, X2: a content of an unknown kind counts only after all other checks of its event")
  func refusedContents() throws {
    var home = SignedFamily()
    let child = SignedFamily.emily
    let account = Audience.account(child)
    approve(&home, "ada")
    home.guardian(1, .changeSettings(child, .communicationSafety(.simple)))
    home.wait(.seconds(2))
    let name = id(home)
    let other = CommandID(high: name.high, low: ~name.low)
    func sealed(_ command: Command, _ id: CommandID) throws -> Content {
      try home.machines.guardians[2]!.prepare(command, id: id, now: home.now).last!.command.content!
    }
    func event(
      _ body: Event.Body, in audience: Audience = Self.audience, by device: UInt32 = 2,
      with keys: DeviceKeys? = nil, knowing known: Knowledge? = nil
    ) -> Event {
      let signature =
        known.map { home.sign(body, name, audience, as: device, knowing: $0) }
        ?? home.sign(
          body, name, audience, as: device, with: keys, basedOnSeq: home.rosterSeq)
      return home.forged(body, in: audience, by: device, id: name, signature: signature)
    }
    let content = try sealed(.post(child: child, Self.content), name)
    let moved = try sealed(.post(child: child, Self.content), other)
    let invalid = try sealed(.post(child: child, .sealed([255, 255, 255])), name)
    let text = try sealed(.post(child: child, .text("a")), name)
    let settings = try sealed(.changeSettings(child, Self.content, proof: []), name)
    let fork = Knowledge(
      family: ChainPosition(
        seq: home.rosterSeq, hash: ChainHash(bytes: Array(repeating: 8, count: 32))!))
    let cases: [(Event, Problem)] = [
      (event(.posted(child: child, content), with: DeviceKeys()), .notSigned),
      (event(.withdrawn(child: child, content), by: 3), .notSigned),
      (event(.posted(child: child, moved)), .cannotOpen),
      (event(.posted(child: child, invalid)), .cannotOpen),
      (event(.withdrawn(child: child, text)), .cannotOpen),
      (event(.settingsChanged(child, settings, proof: []), in: account, by: 3), .noProof),
      (event(.withdrawn(child: child, content), knowing: fork), .forked),
    ]
    for (event, problem) in cases {
      var home = home
      home.storeUnchecked(event)
      for device: UInt32 in [1, 3, 4] {
        #expect(link(home, device).newerCount == 0, "\(problem)")
        #expect(home.problems[device]?.first == problem, "device \(device)")
      }
    }
    // The same events without the defect are newer on every device.
    for event in [
      event(.posted(child: child, content)), event(.withdrawn(child: child, content)),
      event(.settingsChanged(child, settings, proof: []), in: account),
    ] {
      var home = home
      home.storeUnchecked(event)
      for device: UInt32 in [1, 3, 4] {
        #expect(link(home, device).newerCount == 1)
      }
      #expect(home.problems == [:])
      home.storeUnchecked(home.again(event))
      #expect(link(home, 3).newerCount == 1 && home.problems[3] == [.replayed])
    }
  }

  private func newerRecords(_ home: SignedFamily) -> Int {
    home.machines.records(of: 3).count { if case .newer = $0 { true } else { false } }
  }

  @Test(
    "O5: a statement that its signer did not sign, or that its signer may not read, is no event")
  func refused() {
    var home = SignedFamily()
    #expect(state(&home, in: .account(PersonID(1)), by: 3) == .notPermitted)
    #expect(state(&home, with: DeviceKeys()) == nil)
    #expect(newerLines(home, 3) == 0 && home.problems[3] == [.notSigned])
  }
}

/// The vault of a version that does not know withdrawals.
private struct FormerVault: DeviceVault {
  let vault: KeyVault

  var agreementKey: [UInt8] { vault.agreementKey }
  func sign(_ bytes: [UInt8]) -> [UInt8] { vault.sign(bytes) }
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    vault.verify(publicKey, signature, bytes)
  }
  func makeKey() -> [UInt8] { vault.makeKey() }
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? {
    vault.wrap(key, for: reader, binding: binding)
  }
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    vault.unwrap(wrapped, binding: binding)
  }
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content {
    vault.seal(content, name, key, binding: binding)
  }
  func keyName(of content: Content) -> ContentKeyID? { vault.keyName(of: content) }
  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    guard case .withdrawal? = vault.open(content, key, binding: binding) else {
      return vault.open(content, key, binding: binding)
    }
    return .sealed([1])
  }
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] { vault.digest(bytes, under: key) }
  func bytes(of content: Content) -> [UInt8] { vault.bytes(of: content) }
}
