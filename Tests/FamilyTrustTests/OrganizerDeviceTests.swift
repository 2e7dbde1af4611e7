import FamilyCore
import FamilyModel
import FamilyTrust
import Testing

/// The organizer's last device, without which nobody could change the family again.
@Suite struct OrganizerDeviceTests {
  private func withoutOrganizer(_ roster: Roster) -> Roster {
    var roster = roster
    roster.devices.removeAll { $0.person == PersonID(1) }
    return roster
  }

  @Test("F9: the relay refuses to remove the organizer's last device")
  func relay() {
    var home = SignedFamily()
    // The organizer's modified device signs the roster itself.
    let roster = withoutOrganizer(home.roster)
    let body = Event.Body.rosterChanged(roster)
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    let signature = home.sign(body, id, .family, as: 1)
    #expect(
      home.request(1, 1, .command(id, .setRoster(roster), signature)) == .lastOrganizerDevice)
    let keys = home.keys
    // A second device of the organizer makes the first one removable.
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 1, keys)) } == nil)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(1) } } == nil)
  }

  @Test("F9: a device rejects such a roster from a dishonest relay, and keeps the family")
  func device() {
    var home = SignedFamily()
    let body = Event.Body.rosterChanged(withoutOrganizer(home.roster))
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    let event = home.forged(
      body, in: .family, by: 1, id: id, signature: home.sign(body, id, .family, as: 1))
    home.hand(event, to: 3)
    #expect(home.problems[3] == [.lastOrganizerDevice])
    #expect(home.children[3]!.link.roster == home.roster)
  }

  @Test("F9: the organizer's own device refuses before anything is sent")
  func ownDevice() {
    var home = SignedFamily()
    let roster = withoutOrganizer(home.roster)
    let now = home.now
    let effects = home.guardians[1]!.step(.setRoster(roster), now: now)
    #expect(effects == [.notify(.refused(.setRoster(roster), .lastOrganizerDevice))])
    #expect(throws: Problem.lastOrganizerDevice) {
      try home.guardians[1]!.prepare(.setRoster(roster), now: now)
    }
  }

  @Test("F5: a guardian's device refuses a birthdate in the future")
  func birthdate() {
    var home = SignedFamily()
    let account = Account(
      birthdate: Account.Day(iso: "2035-01-01"), region: "US", declaration: .guardianDeclared)
    let now = home.now
    let effects = home.guardians[1]!.step(.setAccount(SignedFamily.emily, account), now: now)
    let command = Command.setAccount(SignedFamily.emily, .account(account))
    #expect(effects == [.notify(.refused(command, .badBirthdate))])
  }
}
