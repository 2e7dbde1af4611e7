import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// A roster that removes a device changes nothing else, because the removed device reads it.
@Suite struct SilentRemovalTests {
  private static let changes: [(String, @Sendable (inout Roster) -> Void)] = [
    (
      "a new person",
      { $0.persons.append(Person(id: PersonID(9), role: .guardian, displayName: "Nora")) }
    ),
    ("a new device", { $0.devices.append(SilentRemovalTests.newcomer()) }),
    ("another name", { $0.persons[1].displayName = "Sascha" }),
    ("another role", { $0.persons[1].role = .adult }),
    ("other keys", { $0.devices[1].publicKey = Device.curveKey(8) }),
    ("another owner", { $0.devices[1].person = PersonID(1) }),
  ]

  private static func newcomer() -> Device {
    Device(
      id: DeviceID(7), person: PersonID(3), publicKey: Device.curveKey(7), keys: DeviceKeys())
  }

  private func id(_ home: SignedFamily) -> CommandID {
    CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
  }

  @Test(
    "T4: the relay and devices refuse a removal with another change", arguments: changes.indices)
  func refused(index: Int) {
    var home = SignedFamily()
    var roster = home.roster
    roster.devices.removeAll { $0.id == DeviceID(4) }
    Self.changes[index].1(&roster)
    let body = Event.Body.rosterChanged(roster)
    let signature = home.sign(body, id(home), .family, basedOnSeq: UInt64(home.log.count))
    // The guardian's own device refuses, and the relay refuses what another program signs.
    #expect(home.change { $0 = roster } == .mixedRemoval)
    #expect(
      home.request(1, 1, .command(id(home), .setRoster(roster), signature)) == .mixedRemoval)
    // A dishonest relay publishes the roster.
    home.hand(home.forged(body, in: .family, id: id(home), signature: signature), to: 3)
    #expect(home.problems[3] == [.mixedRemoval])
    #expect(home.children[3]!.link.roster == home.roster)
    // Alone, each of the changes is accepted, unless it replaces a device.
    var alone = home.roster
    Self.changes[index].1(&alone)
    let isReplacement = alone.devices.count == 4 && alone.devices[1] != home.roster.devices[1]
    #expect(home.change { $0 = alone } == (isReplacement ? .mixedRemoval : nil))
  }

  @Test("T4: a removed person takes the devices along, and nothing else")
  func person() {
    var home = SignedFamily()
    home.guardian(1, .setRoster(home.guardians[1]!.link.roster(removing: PersonID(2))))
    #expect(home.children[3]!.link.roster.persons.map(\.id.rawValue) == [1, 3])
    #expect(home.children[3]!.link.roster.devices.map(\.id.rawValue) == [1, 3, 4])
    #expect(home.problems == [:])
  }

  @Test("T4: a guardian's device splits a change, and the removed device reads the removal alone")
  func split() throws {
    var home = SignedFamily()
    var roster = home.roster
    roster.devices.removeAll { $0.id == DeviceID(4) }
    for (_, change) in Self.changes.prefix(3) { change(&roster) }
    // Device 3 gets other keys.
    let replaced = Device(
      id: DeviceID(3), person: SignedFamily.emily, publicKey: Device.curveKey(12),
      keys: DeviceKeys())
    roster.devices[2] = replaced
    home.guardian(1, .setRoster(roster))
    home.wait(.seconds(30))
    let seen = home.children[4]!.link.roster
    #expect(seen.devices.map(\.id.rawValue) == [1, 2] && seen.persons == home.roster.persons)
    let present = try #require(home.relay.state(of: SignedFamily.family)?.roster)
    #expect(present.persons == roster.persons)
    #expect(present.devices.map(\.id.rawValue) == [1, 2, 7, 8])
    #expect(present.devices.last?.agreementKey == replaced.agreementKey)
    for device: UInt32 in [1, 2] {
      #expect(home.guardians[device]!.link.roster == present)
      #expect(home.guardians[device]!.link.pendingCommands.isEmpty)
    }
    #expect(home.problems == [:])
  }

  @Test("T4: the steps between any two rosters are permitted, and lead to the second")
  func steps() throws {
    var source = IDSource(seed: 11)
    func roster() -> Roster {
      let persons = (1...5).filter { $0 == 1 || source.next() % 2 == 0 }.map {
        Person(
          id: PersonID($0), role: $0 == 1 ? .organizer : .child, displayName: "\(source.next() % 2)"
        )
      }
      let devices = persons.flatMap { person in
        (0...1).filter { _ in source.next() % 2 == 0 }.map {
          Device(
            id: DeviceID(person.id.rawValue * 2 + $0), person: person.id,
            publicKey: Device.curveKey(UInt32(1 + source.next() % 2)))
        }
      }
      return Roster(persons: persons, devices: devices)
    }
    for _ in 0..<2_000 {
      let (start, end) = (roster(), roster())
      var last = start
      for step in start.steps(to: end) {
        try last.checkRemoval(in: step)
        try step.validate()
        last = step
      }
      #expect(last == end && start.steps(to: end).count <= 2)
    }
  }

  @Test("T5: a device that was shown another roster accepts the next one of the honest relay")
  func fork() throws {
    var home = SignedFamily()
    let keys = home.keys
    let other = try home.showOtherRoster(to: 4)
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 1, keys)) } == nil)
    #expect(home.children[4]!.link.roster == other)
    home.beHonest()
    home.disconnect(4)
    home.connect(4)
    // For this device, the next roster removes a device and adds two.
    #expect(home.change { $0.devices.append(Self.newcomer()) } == nil)
    #expect(home.children[4]!.link.roster == home.roster)
    home.restore(4)
    home.connect(4)
    #expect(home.children[4]!.link.roster == home.roster)
  }
}
