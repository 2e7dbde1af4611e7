import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// The work and the memory that a member's key shares and contents cost the others.
@Suite struct KeyBoundTests {
  private static let audience = Audience.conversation(SignedFamily.emily)

  private func wrap(_ number: UInt64, _ reader: [UInt8]) -> KeyWrap {
    KeyWrap(key: ID128(high: 7, low: number), reader: reader, bytes: [1, 2, 3])
  }

  /// The verifier of a guardian's device that has verified the family's log.
  private func verifier(_ home: SignedFamily, _ vault: MeteredVault) -> EventVerifier {
    var verifier = EventVerifier(
      vault, organizerKey: home.keys[1]!.signingKey, family: SignedFamily.family)
    for event in home.log where verifier.append(event) {
      _ = verifier.verify(event) { _ in nil }
    }
    return verifier
  }

  private func event(_ home: SignedFamily, _ seq: UInt64, by device: UInt32, _ body: Event.Body)
    -> Event
  {
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: seq)
    return Event(
      seq: seq, previous: seq - 1, audience: Self.audience, command: id, device: DeviceID(device),
      at: home.now, body: body, signature: home.sign(body, id, as: device))
  }

  private func problem(_ verdict: EventVerifier.Verdict) -> Problem? {
    if case .rejected(let problem) = verdict { problem } else { nil }
  }

  @Test("T3: a device remembers a bounded number of former passcodes")
  func passcodes() throws {
    var home = SignedFamily()
    home.choosePasscode(DeviceKeys())
    let passcode = try #require(home.relay.state(of: SignedFamily.family)?.passcode)
    var verifier = verifier(home, MeteredVault(home.keys[3]!))
    let first = try #require(home.log.last).seq + 1
    for seq in first...first + UInt64(Limits.passcodes) {
      var event = event(home, seq, by: 1, .passcodeChanged(passcode))
      event.audience = .family
      verifier.record(event, digest: ChainHash())
    }
    #expect(verifier.passcodes.count == Limits.passcodes)
    #expect(verifier.passcodes.last?.order.seq == first + UInt64(Limits.passcodes))
  }

  @Test("T6: the relay refuses keys above the limit, for strangers, and repeated ones")
  func relay() {
    var home = SignedFamily()
    let reader = home.keys[1]!.agreementKey
    var count: UInt64 = 0
    func share(_ home: inout SignedFamily, _ wraps: [KeyWrap], by device: UInt32 = 3) -> Problem? {
      count += 1
      let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: count)
      let signature = home.sign(.keysShared(wraps), id, as: device, basedOnSeq: home.rosterSeq)
      return home.request(device, 1, .command(id, .shareKeys(Self.audience, wraps), signature))
    }
    #expect(share(&home, [wrap(1, DeviceKeys().agreementKey)]) == .badKeyShare)
    #expect(share(&home, [wrap(1, reader), wrap(1, reader)]) == .badKeyShare)
    for number in 1...UInt64(Limits.keysPerMaker) {
      #expect(share(&home, [wrap(number, reader)]) == nil)
    }
    #expect(share(&home, [wrap(1_000, reader)]) == .tooManyKeys)
    // Known keys may be shared with further readers, and others have a limit of their own.
    #expect(share(&home, [wrap(1, home.keys[2]!.agreementKey)]) == nil)
    #expect(share(&home, [wrap(1_000, reader)], by: 4) == nil)
    // A guardian ends the device's limit with the device, and starts that of the others again.
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    #expect(share(&home, [wrap(2_000, home.keys[1]!.agreementKey)]) == nil)
    #expect(home.problems == [:])
  }

  @Test("T6: 5,000 key shares cost a device one opening for each key, and few keys of memory")
  func shares() {
    let home = SignedFamily()
    let vault = MeteredVault(home.keys[1]!)
    var verifier = verifier(home, vault)
    let readers = home.roster.devices.map(\.agreementKey)
    let before = vault.counter.value.unwrapped
    var rejected = 0
    for number in 1...5_000 as ClosedRange<UInt64> {
      let share = event(home, 100 + number, by: 3, .keysShared(readers.map { wrap(number, $0) }))
      guard let problem = problem(verifier.verify(share) { _ in nil }) else { continue }
      #expect(problem == .tooManyKeys)
      rejected += 1
    }
    #expect(rejected == 5_000 - Limits.keysPerMaker)
    #expect(verifier.ring.count(Self.audience) == Limits.keysPerMaker)
    #expect(vault.counter.value.unwrapped - before == Limits.keysPerMaker)
    // The same sharer's next wraps of the same keys are not even opened.
    for seq in 6_000..<6_100 as Range<UInt64> {
      let share = event(home, seq, by: 3, .keysShared([wrap(1, readers[0])]))
      #expect(problem(verifier.verify(share) { _ in nil }) == nil)
    }
    #expect(vault.counter.value.unwrapped - before == Limits.keysPerMaker)
    let foreign = event(home, 7_000, by: 3, .keysShared([wrap(1, DeviceKeys().agreementKey)]))
    #expect(problem(verifier.verify(foreign) { _ in nil }) == .badKeyShare)
    let twice = event(home, 7_001, by: 3, .keysShared([wrap(1, readers[0]), wrap(1, readers[0])]))
    #expect(problem(verifier.verify(twice) { _ in nil }) == .badKeyShare)
  }

  @Test(
    "T6: after two histories, a key has a bounded number of readers that a device does not know")
  func strangers() throws {
    let keys = DeviceKeys()
    let vault = KeyVault(keys)
    func device(_ id: UInt32, _ keys: DeviceKeys) -> Device {
      Device(
        id: DeviceID(id), person: PersonID(1), publicKey: Device.curveKey(id), keys: keys)
    }
    let own = device(1, keys)
    var ring = KeyRing()
    let name = try ring.make(
      Self.audience, for: [own], in: SignedFamily.family, by: own.id, seq: 1,
      at: Instant(milliseconds: 0), vault)[0].key
    func share(_ devices: [Device]) throws {
      let wraps = devices.map { KeyWrap(key: name, reader: $0.agreementKey, bytes: [1]) }
      let share = KeyRing.Share(
        wraps: wraps, audience: Self.audience, sharer: own, seq: 2, at: Instant(milliseconds: 0),
        basedOnSeq: 1, known: [own.agreementKey, Array(repeating: 7, count: 32)])
      _ = try ring.learn(share, in: SignedFamily.family, vault)
    }
    let strangers = (0..<600).map { number in
      var stranger = own
      stranger.agreementKey =
        [UInt8(number % 256), UInt8(number / 256)] + [UInt8](repeating: 9, count: 30)
      return stranger
    }
    try share(strangers)
    let limit = Limits.keyReaders - 1
    func lacking(_ devices: [Device]) -> Int {
      ring.lacking(Self.audience, devices, own: own.agreementKey, limit: .max).count
    }
    #expect(lacking(Array(strangers[..<limit])) == 0)
    #expect(lacking(strangers) == strangers.count - limit)
    // A reader that the device knows is recorded above the limit, so that the key is shared once.
    var known = own
    known.agreementKey = Array(repeating: 7, count: 32)
    #expect(lacking([known]) == 1)
    try share([known])
    #expect(lacking([known]) == 0)
  }

  @Test("T6: 4,096 texts under an unknown key cost later events nothing, and hold up no other's")
  func texts() {
    let home = SignedFamily()
    let vault = MeteredVault(home.keys[1]!)
    var verifier = verifier(home, vault)
    func text(_ seq: UInt64, by device: UInt32, _ name: UInt64) -> Event {
      let sealed = SealedContent(
        key: ID128(high: 9, low: name), box: Array(repeating: 0, count: 40))
      return event(
        home, seq, by: device, .posted(child: SignedFamily.emily, .sealed(sealed.bytes)))
    }
    for seq in 100..<4_196 as Range<UInt64> {
      _ = verifier.verify(text(seq, by: 3, seq)) { _ in nil }
    }
    #expect(verifier.deferred.count == Limits.deferredEventsOfSigner)
    _ = verifier.verify(text(4_200, by: 2, 1)) { _ in nil }
    #expect(verifier.deferred.count == Limits.deferredEventsOfSigner + 1)
    let before = vault.counter.value.verified
    for seq in 5_000..<5_200 as Range<UInt64> {
      let limits = event(home, seq, by: 1, .limitsChanged(child: SignedFamily.emily, on: true))
      _ = verifier.verify(limits) { _ in nil }
      #expect(verifier.retryDeferred { _ in nil }.isEmpty)
    }
    #expect(vault.counter.value.verified - before == 200)
  }

  @Test("T6: a key share costs its sender tokens by its bytes") func price() {
    func cost(_ wraps: Int) -> Int64 {
      let wrap = KeyWrap(
        key: ID128(high: 1, low: 1), reader: Array(repeating: 1, count: 32),
        bytes: Array(repeating: 1, count: 80))
      let command = Command.shareKeys(Self.audience, Array(repeating: wrap, count: wraps))
      return RateLimits.cost(of: .command(CommandID(high: 1, low: 1), command, nil))
    }
    #expect(cost(4) == 2 && cost(Limits.keyWraps) == 34)
  }
}
