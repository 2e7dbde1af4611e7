import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// The keys that devices make and use, in particular after a removal.
@Suite struct KeyMakerTests {
  private static let audience = Audience.conversation(SignedFamily.emily)

  /// Shares a key that a device made outside of the rules.
  ///
  /// - Returns: The name of the key.
  private func plant(_ home: inout SignedFamily, by device: UInt32, for readers: [UInt32])
    -> ContentKeyID
  {
    let vault = KeyVault(home.keys[device]!)
    let secret = vault.makeKey()
    let name = KeyRing.name(of: secret, vault)
    let binding = KeyRing.binding(SignedFamily.family, Self.audience, name)
    let wraps = readers.map { id in
      let reader = home.keys[id]!.agreementKey
      return KeyWrap(
        key: name, reader: reader, bytes: vault.wrap(secret, for: reader, binding: binding)!)
    }
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 9)
    let signature = home.sign(.keysShared(wraps), id, as: device)
    #expect(
      home.request(device, 1, .command(id, .shareKeys(Self.audience, wraps), signature)) == nil)
    return name
  }

  private func isUsed(_ name: ContentKeyID, _ home: SignedFamily) -> Bool {
    let vault = KeyVault(home.keys[3]!)
    return home.log.contains { $0.body.content.flatMap(vault.keyName) == name }
  }

  /// Plants a key while all others are offline, and removes Alex's device in a visit that shares no
  /// keys. The others return afterwards.
  private func plantAndRemove(_ home: inout SignedFamily, by device: UInt32) -> ContentKeyID {
    for device: UInt32 in [1, 3, 4] { home.disconnect(device) }
    let name = plant(&home, by: device, for: [1, 3, 4])
    // The remover knows the history, as the relay requires.
    home.guardian(1, .broadcast(.event(home.log.last!)))
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    for device: UInt32 in [1, 3, 4] { home.connect(device) }
    home.wait(.seconds(10))
    return name
  }

  @Test("T6: a key that a device planted before its removal seals nothing afterwards")
  func planted() {
    var home = SignedFamily()
    // Alex's device has the key, but names only the others as its readers.
    let name = plantAndRemove(&home, by: 2)
    let question = home.ask("ada")
    home.guardian(1, .post(child: SignedFamily.emily, "hello"))
    home.answer(question, "approve")
    #expect(home.known() == ["ada"] && home.problems == [:])
    #expect(!isUsed(name, home))
  }

  @Test("T6: the maker of a key counts as a reader, whether or not its key share says so")
  func maker() {
    var home = SignedFamily()
    for device: UInt32 in [1, 3, 4] { home.disconnect(device) }
    _ = plant(&home, by: 2, for: [1, 3, 4])
    home.guardian(1, .broadcast(.event(home.log.last!)))
    let ring = home.guardians[1]!.link.verifier!.ring
    func usable(_ devices: [Device]) -> Bool {
      ring.usable(Self.audience, for: devices, own: []) != nil
    }
    #expect(usable(home.roster.devices))
    #expect(!usable(home.roster.devices.filter { $0.id != DeviceID(2) }))
  }

  @Test("T6: after a removal no key seals that was made before, by whichever device")
  func epoch() {
    var home = SignedFamily()
    // Emily's device shares a key that it has from Alex's device.
    let name = plantAndRemove(&home, by: 3)
    home.answer(home.ask("ada"), "approve")
    #expect(home.known() == ["ada"] && home.problems == [:])
    #expect(!isUsed(name, home))
    // Keys of the present epoch are used again and again.
    let count = home.guardians[1]!.link.verifier!.ring.count(Self.audience)
    home.ask("ben")
    #expect(home.guardians[1]!.link.verifier!.ring.count(Self.audience) == count)
  }

  @Test("T6: a full outbox does not hold up the key that its commands need") func fullOutbox() {
    var home = SignedFamily(connected: [1, 3, 4])
    for number in 0..<Limits.outbox {
      home.guardian(2, .post(child: SignedFamily.emily, "\(number)"))
    }
    #expect(home.guardians[2]!.link.pendingCommands.count == Limits.outbox)
    home.connect(2)
    home.wait(.seconds(5))
    #expect(home.guardians[2]!.link.pendingCommands.isEmpty)
    #expect(home.guardians[1]!.link.conversations[SignedFamily.emily]?.lines.count == Limits.outbox)
  }

  @Test("T6: a reader with an invalid key ends a command with a problem instead of a loop")
  func invalidReader() {
    var home = SignedFamily()
    var vault = MeteredVault(home.keys[1]!)
    vault.refused = home.keys[4]!.agreementKey
    home.restore(1, Security(vault, organizerKey: home.keys[1]!.signingKey))
    home.connect(1)
    #expect(throws: Problem.weakKey) {
      _ = try home.machines.guardians[1]!.prepare(
        .post(child: SignedFamily.emily, .text("hello")), now: home.now)
    }
    home.guardian(1, .post(child: SignedFamily.emily, "hello"))
    #expect(home.guardians[1]!.link.pendingCommands.isEmpty)
    #expect(home.guardians[1]!.link.verifier!.ring.count(Self.audience) == 0)
  }
}
