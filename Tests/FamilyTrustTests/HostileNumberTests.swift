import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Numbers that a member with valid keys chooses.
@Suite struct HostileNumberTests {
  @Test("T3: a family with keys stays signed, and a repeated addition of a child harms nobody")
  func staysSigned() {
    var home = SignedFamily()
    let problem = home.change {
      $0.devices[0] = Device(
        id: DeviceID(1), person: PersonID(1), publicKey: $0.devices[0].publicKey)
      $0.persons.append(Person(id: PersonID(.max), role: .adult, displayName: "Zed"))
    }
    #expect(problem != nil)
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 9)
    #expect(home.request(1, 1, .command(id, .addChild(displayName: "Noah"), nil)) == .notSigned)
    #expect(home.relay.state(of: SignedFamily.family)!.roster.isSigned)
  }

  @Test("T3: refuses a roster that takes the organizer's keys away, at the relay and at devices")
  func unsigned() {
    var home = SignedFamily()
    let change = { (roster: inout Roster) in
      roster.devices[0] = Device(
        id: DeviceID(1), person: PersonID(1), publicKey: roster.devices[0].publicKey)
    }
    #expect(home.change(change) == .notSigned)
    var next = home.roster
    change(&next)
    let body = Event.Body.rosterChanged(next)
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    home.hand(
      home.forged(body, in: .family, id: id, signature: home.sign(body, id, .family)), to: 3)
    #expect(home.problems[3] == [.notSigned])
  }

  @Test(
    "T3: refuses persons and devices with numbers above the limit",
    arguments: [Limits.largestNumber + 1, .max])
  func largeNumbers(number: UInt32) {
    var home = SignedFamily()
    var device = SignedFamily.device(5, 1, home.keys)
    device.id = DeviceID(number)
    #expect(
      home.change {
        $0.persons.append(Person(id: PersonID(number), role: .adult, displayName: "Zed"))
      } == .badFamily)
    #expect(
      home.change { $0.devices.append(device) } == .badFamily)
  }

  @Test("T3: at the largest number a family refuses further persons and devices, without a trap")
  func atTheLimit() {
    var home = SignedFamily()
    var device = SignedFamily.device(5, 1, home.keys)
    device.id = DeviceID(Limits.largestNumber)
    #expect(
      home.change {
        $0.persons.append(
          Person(id: PersonID(Limits.largestNumber), role: .adult, displayName: "Zed"))
        $0.devices.append(device)
      } == nil)
    let grown = home.guardians[1]!.link.roster(adding: "Noah", as: .child)
    #expect(throws: Problem.badFamily) { try grown.validate() }
    home.guardian(1, .addChild(displayName: "Noah"))
    #expect(home.relay.state(of: SignedFamily.family)!.roster.children.count == 1)
  }
}
