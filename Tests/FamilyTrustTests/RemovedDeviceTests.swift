import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Devices that a roster removed do not return.
@Suite struct RemovedDeviceTests {
  private func remove(_ device: UInt32, _ home: inout SignedFamily) {
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(device) } } == nil)
  }

  /// The present roster with the former device 4, under a number.
  private func returning(as number: UInt32, _ home: SignedFamily) -> Roster {
    var roster = home.roster
    roster.devices.append(SignedFamily.device(4, 3, home.keys))
    roster.devices[roster.devices.count - 1].id = DeviceID(number)
    return roster
  }

  @Test("T4: the relay, devices and apps reject a roster with a removed key", arguments: [4, 7])
  func rejected(number: UInt32) {
    var home = SignedFamily()
    remove(4, &home)
    let (roster, seq) = (returning(as: number, home), UInt64(home.log.count))
    let body = Event.Body.rosterChanged(roster)
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    let signature = home.sign(body, id, .family, basedOnSeq: seq)
    // The guardian's own device refuses, and the relay refuses what another program signs.
    #expect(home.change { $0 = roster } == .keyRemoved)
    let command = Request.command(id, .setRoster(roster), signature)
    #expect(home.request(1, 1, command) == .keyRemoved)
    home.relay.evict(SignedFamily.family)
    home.relay.load(SignedFamily.family, events: home.log, cursors: [], now: home.now)
    #expect(home.request(1, 2, command) == .keyRemoved)
    let event = home.forged(body, in: .family, id: id, signature: signature)
    for device: UInt32 in [2, 3] {
      home.hand(event, to: device)
      #expect(home.problems[device] == [.keyRemoved])
    }
    #expect(home.children[3]!.link.roster == home.roster)
    // A dishonest device shows the roster to its app.
    home.startApp(on: 3)
    let proof = RosterProof(
      seq: seq + 1, command: id, signature: signature, roster: roster.withoutNames,
      hiddenDigest: KeyVault.digest(roster.hiddenBytes))
    #expect(home.apps[3]!.step(.reply(.roster(proof))).contains(.rejected(.keyRemoved)))
  }

  @Test("T4: a device that returns with new keys is accepted")
  func newKeys() {
    var home = SignedFamily()
    remove(4, &home)
    let device = Device(
      id: DeviceID(7), person: SignedFamily.emily, publicKey: Device.curveKey(7), keys: DeviceKeys()
    )
    #expect(home.change { $0.devices.append(device) } == nil)
    #expect(home.children[3]!.link.roster.device(DeviceID(7)) == device)
  }

  @Test("T4: all members but the author see a device that a guardian added")
  func shown() {
    var home = SignedFamily()
    let device = Device(
      id: DeviceID(7), person: PersonID(1), publicKey: Device.curveKey(7), keys: DeviceKeys())
    #expect(home.change { $0.devices.append(device) } == nil)
    let notice = Notice.deviceAdded(DeviceID(7), of: PersonID(1))
    #expect(home.guardians[1]!.notifications.all.isEmpty)
    #expect(home.guardians[2]!.notifications.all.map(\.notice) == [notice])
    #expect(home.children[3]!.notifications.all.map(\.notice) == [notice])
    // A device that starts later has the notice in its records, once.
    home.restore(2)
    #expect(home.guardians[2]!.notifications.all.map(\.notice) == [notice])
  }

  @Test("T4: the relay's snapshot keeps the removed keys, and a full record adds no device")
  func bounded() throws {
    var removed = RemovedKeys()
    let keys = (0..<Limits.formerDevices).map { number in
      (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 2 * 8)) }
    }
    for key in keys {
      let device = Device(
        id: DeviceID(9), person: PersonID(1), publicKey: key, signingKey: key, agreementKey: key)
      let old = Roster(devices: [device])
      try removed.check(Roster(), next: old)
      removed.record(from: old, to: Roster())
    }
    #expect(removed.keys == keys)
    let other = Device(
      id: DeviceID(9), person: PersonID(1), publicKey: [1], signingKey: [1], agreementKey: [1])
    #expect(throws: Problem.tooMany) {
      try removed.check(Roster(), next: Roster(devices: [other]))
    }
    try removed.check(Roster(devices: [other]), next: Roster(devices: [other]))
    var state = FamilyState()
    state.removedKeys = removed
    #expect(FamilyState(snapshot: try #require(state.snapshot))?.removedKeys == removed)
  }

  @Test("T4: a change made before a removal brings nobody back, and keeps its own intention")
  func stale() {
    var home = SignedFamily()
    home.machines.away.insert(1)
    home.guardian(1, .disconnected)
    home.guardian(1, .setRoster(home.guardians[1]!.link.roster(adding: "Grandpa", as: .guardian)))
    // Alex meanwhile removes a device and adds a person with the same number.
    #expect(home.change(by: 2) { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    home.guardian(2, .setRoster(home.guardians[2]!.link.roster(adding: "Nora", as: .adult)))
    // The device also restarts before it is online again.
    home.restore(1)
    home.connect(1)
    home.wait(.seconds(60))
    for link in [home.guardians[1]!.link, home.guardians[2]!.link, home.children[3]!.link] {
      #expect(link.roster.devices.map(\.id.rawValue) == [1, 2, 3])
      #expect(
        link.roster.persons.map(\.displayName) == ["Rosa", "Alex", "Emily", "Nora", "Grandpa"])
      #expect(link.pendingCommands.isEmpty)
    }
    #expect(home.problems == [:])
  }

  @Test("T4: random concurrent changes of two guardians bring nobody back", arguments: 1...12)
  func random(seed: UInt64) {
    var home = SignedFamily()
    var source = IDSource(seed: seed)
    for step in 0..<24 {
      let device = UInt32(1 + source.next() % 2)
      let link = home.guardians[device]!.link
      let devices = link.roster.devices.filter { $0.id.rawValue > 2 }
      switch source.next() % 5 {
      case 0:
        home.machines.away.insert(device)
        home.guardian(device, .disconnected)
      case 1: home.connect(device)
      case 2: home.guardian(device, .setRoster(link.roster(adding: "\(step)", as: .adult)))
      case 3:
        guard let gone = devices.randomElement(using: &source) else { continue }
        home.guardian(device, .setRoster(link.roster(removing: gone.id)))
      default:
        let keys = DeviceKeys()
        let join = JoinRequest(
          invitation: keys.signingKey, publicKey: keys.agreementKey, signingKey: keys.signingKey,
          agreementKey: keys.agreementKey, proof: [])
        home.guardian(device, .setRoster(link.roster(adding: join, of: SignedFamily.emily)))
      }
      home.wait(.seconds(3))
    }
    for device: UInt32 in [1, 2] { home.connect(device) }
    home.wait(.minutes(5))
    var removed = RemovedKeys()
    var last = Roster()
    for case .rosterChanged(let roster) in home.log.map(\.body) {
      #expect(!roster.devices.contains { removed.contains($0.signingKey) })
      removed.record(from: last, to: roster)
      last = roster
    }
    for device: UInt32 in [1, 2] {
      #expect(home.guardians[device]!.link.roster == last)
      #expect(home.guardians[device]!.link.pendingCommands.isEmpty)
    }
    #expect(home.problems == [:])
  }
}
