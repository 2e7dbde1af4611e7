import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Numbers that a member with valid keys chooses.
@Suite struct HostileNumberTests {
  /// A roster in which the organizer's device has no keys.
  private func unsigned(_ roster: Roster) -> Roster {
    var next = roster
    next.devices[0] = Device(
      id: DeviceID(1), person: PersonID(1), publicKey: roster.devices[0].publicKey)
    return next
  }

  @Test("T3: a family with keys stays signed, at the relay and at devices")
  func staysSigned() {
    var home = SignedFamily()
    var next = unsigned(home.roster)
    next.persons.append(
      Person(id: PersonID(Limits.largestNumber), role: .adult, displayName: "Zed"))
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    let signature = home.sign(.rosterChanged(next), id, .family)
    #expect(home.request(1, 1, .command(id, .setRoster(next), signature)) != nil)
    #expect(home.relay.state(of: SignedFamily.family)!.roster.isSigned)
    // Without keys the organizer's device could add a child without a signature.
    let later = CommandID(high: id.high + 1, low: 9)
    #expect(home.request(1, 1, .command(later, .addChild(displayName: "Noah"), nil)) == .notSigned)
    home.hand(
      home.forged(.rosterChanged(next), in: .family, id: id, signature: signature), to: 3)
    #expect(home.problems[3]?.count == 1 && home.children[3]!.link.roster == home.roster)
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

  @Test("T3: at the largest number a family adds members under unused numbers, without a trap")
  func atTheLimit() throws {
    var home = SignedFamily()
    var device = SignedFamily.device(5, 1, home.keys)
    device.id = DeviceID(Limits.largestNumber)
    #expect(
      home.change {
        $0.persons.append(
          Person(id: PersonID(Limits.largestNumber), role: .adult, displayName: "Zed"))
        $0.devices.append(device)
      } == nil)
    let key = [UInt8](repeating: 9, count: 32)
    let join = JoinRequest(invitation: key, publicKey: key, signingKey: key, agreementKey: key)
    let grown = home.guardians[1]!.link.roster(adding: join, of: PersonID(1))
    try grown.validate()
    #expect(grown.devices.count == home.roster.devices.count + 1)
    home.guardian(1, .addChild(displayName: "Noah"))
    #expect(home.relay.state(of: SignedFamily.family)!.roster.children.count == 2)
    #expect(home.children[3]!.link.roster == home.guardians[1]!.link.roster)
  }
}
