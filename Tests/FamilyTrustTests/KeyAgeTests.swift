import FamilyHarness
import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// The weekly replacement of content keys.
@Suite struct KeyAgeTests {
  private static let audience = Audience.conversation(SignedFamily.emily)
  private static let past = Milliseconds.milliseconds(1)

  private func post(_ home: inout SignedFamily, by device: UInt32 = 1) {
    home.guardian(device, .post(child: SignedFamily.emily, "hello"))
  }

  /// The number of keys of Emily's conversation that a guardian's device knows.
  private func keys(_ home: SignedFamily, _ device: UInt32 = 1) -> Int {
    home.guardians[device]!.link.verifier!.ring.count(Self.audience)
  }

  private func lines(_ home: SignedFamily) -> [Int] {
    let guardians = [1, 2].map { home.guardians[$0]!.link.conversations[SignedFamily.emily] }
    let children = [3, 4].map { home.children[$0]!.conversation }
    return (guardians + children).map { $0?.lines.count ?? 0 }
  }

  /// The name of the key that sealed the newest content.
  private func lastKey(_ home: SignedFamily) -> ContentKeyID? {
    home.log.last { $0.body.content != nil }?.body.content.flatMap(
      KeyVault(home.keys[1]!).keyName)
  }

  /// Shares new keys of this device that nobody can open.
  ///
  /// - Returns: The relay's problem.
  private func share(_ home: inout SignedFamily, _ count: Int, by device: UInt32) -> Problem? {
    let first = UInt64(home.frames.count) << 16
    let wraps = (0..<UInt64(count)).map { number in
      KeyWrap(
        key: ID128(high: UInt64(device), low: first + number), reader: home.keys[1]!.agreementKey,
        bytes: [1])
    }
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: first)
    let signature = home.sign(.keysShared(wraps), id, as: device, basedOnSeq: home.rosterSeq)
    return home.request(device, 1, .command(id, .shareKeys(Self.audience, wraps), signature))
  }

  /// Shares as many keys as the device may make, and expects that the relay refuses one more.
  private func exhaust(_ home: inout SignedFamily, _ bound: Int, by device: UInt32) {
    #expect(share(&home, bound + 1, by: device) == .tooManyKeys)
    #expect(share(&home, bound, by: device) == nil)
    #expect(share(&home, 1, by: device) == .tooManyKeys)
  }

  @Test(
    "T6: a writer replaces a key that was shared more than 7 days ago, and no other device does")
  func weekly() {
    var home = SignedFamily()
    post(&home)
    let (count, first) = (keys(home), lastKey(home))
    home.now = home.now + Limits.contentKeyAge
    post(&home)
    #expect(keys(home) == count && lastKey(home) == first)
    home.now = home.now + Self.past
    for device: UInt32 in [1, 2, 3, 4] {
      home.disconnect(device)
      home.connect(device)
    }
    #expect(keys(home) == count)
    post(&home, by: 2)
    #expect(keys(home) == count + 1 && lastKey(home) != first)
    // The others use the new key.
    let second = lastKey(home)
    post(&home)
    home.ask("ada")
    #expect(keys(home) == count + 1 && lastKey(home) == second)
    #expect(lines(home) == [5, 5, 5, 5] && home.problems == [:])
    // So does a device that reads everything again.
    home.restore(1)
    home.connect(1)
    post(&home)
    #expect(keys(home) == count + 1 && lines(home) == [6, 6, 6, 6])
  }

  @Test("T6: a device's wrong clock replaces no key, once the relay has stated its time")
  func clock() {
    var ids = CommandIDSource(IDSource(seed: 1))
    let time = Instant(milliseconds: 1_700_000_000_000)
    ids.learn(relayTime: time, now: time + .days(400))
    #expect(ids.relayTime(now: time + .days(400)) == time)
    // A clock that is behind does not keep an old key in use, either.
    ids.learn(relayTime: time, now: time - .days(400))
    ids.observe(relayTime: time + .days(8))
    #expect(ids.relayTime(now: time - .days(400)) == time + .days(8))
  }

  @Test("T6: a family of two years has a key for each week, and one device 64 more")
  func twoYears() {
    var home = SignedFamily()
    let weeks = 104
    for week in 0..<weeks {
      post(&home, by: week % 2 == 0 ? 1 : 2)
      home.now = home.now + Limits.contentKeyAge + Self.past
    }
    #expect(keys(home) == weeks && keys(home, 2) == weeks)
    #expect(lines(home) == Array(repeating: weeks, count: 4) && home.problems == [:])
    // Devices count as the relay does.
    exhaust(&home, Limits.keysPerMaker + weeks, by: 4)
    exhaust(&home, Limits.keysPerMaker + weeks / 2, by: 1)
    #expect(keys(home) == 2 * (Limits.keysPerMaker + weeks) + weeks / 2)
    #expect(home.problems == [:] && home.unopened[2] == nil)
    // A removal starts the count again.
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    exhaust(&home, Limits.keysPerMaker, by: 2)
    #expect(home.problems == [:])
  }

  @Test("T6: a writer that may make no further key uses the old one")
  func exhausted() {
    var home = SignedFamily()
    post(&home)
    let first = lastKey(home)
    home.now = home.now + Limits.contentKeyAge + Self.past
    // The key that Rosa's device has made counts, too.
    exhaust(&home, Limits.keysPerMaker, by: 1)
    post(&home)
    #expect(lastKey(home) == first && home.guardians[1]!.link.pendingCommands.isEmpty)
    // Another device replaces the key.
    post(&home, by: 2)
    #expect(lastKey(home) != first && lines(home) == [3, 3, 3, 3])
  }

  @Test("T6: a week's bound rises up to a limit, whatever time the relay states")
  func bound() {
    let start = Instant(milliseconds: 1_700_000_000_000)
    func bound(_ age: Milliseconds) -> Int { Limits.keysPerMaker(since: start, at: start + age) }
    #expect(bound(.zero) == 64 && bound(.days(-30)) == 64 && bound(.days(7) - Self.past) == 64)
    #expect(bound(.days(7)) == 65 && bound(.days(14)) == 66)
    #expect(bound(.days(7 * 1_040)) == 1_104 && bound(.max) == 1_104)
    #expect(Limits.keysPerMaker(since: Instant(milliseconds: .max), at: start) == 64)
    #expect(
      Limits.keysPerMaker(since: Instant(milliseconds: .min), at: Instant(milliseconds: .max))
        == 1_104)
  }

  @Test("T6: after a refused key share, the writer uses the old key until its next start")
  func refused() throws {
    let (keys, maker) = (DeviceKeys(), DeviceID(1))
    let vault = KeyVault(keys)
    let device = Device(
      id: maker, person: PersonID(1), publicKey: Device.curveKey(1), keys: keys)
    var ring = KeyRing()
    let time = Instant(milliseconds: 0)
    #expect(ring.mayReplace(Self.audience, by: maker, at: time))
    let wraps = try ring.make(
      Self.audience, for: [device], in: SignedFamily.family, by: maker, seq: 1, at: time, vault)
    #expect(ring.mayReplace(Self.audience, by: maker, at: time))
    ring.drop(wraps, Self.audience)
    #expect(!ring.mayReplace(Self.audience, by: maker, at: time))
  }
}
