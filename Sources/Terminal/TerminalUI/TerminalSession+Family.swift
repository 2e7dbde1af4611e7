import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import QRCode
import SystemClock
import Wording

extension TerminalSession {
  /// Lists the family's members with their roles and devices.
  func listMembers() {
    guard let roster = timeline?.link.roster else { return }
    write(
      roster.persons.flatMap { person in
        let devices = roster.devices.filter { $0.person == person.id }.map { "\($0.id.rawValue)" }
        let text =
          devices.isEmpty
          ? wording(.noDevices) : wording(.devices, devices.joined(separator: ", "))
        let role = wording(person.role.phrase)
        return renderer.hanging(Row("\(person.displayName) ", .key), "\(role), \(text)")
      })
  }

  /// Shows the error for a name or number that matches nothing. A list of the choices follows.
  func showNotFound(_ name: String) {
    write(renderer.text(wording(.notFound, name.displaySafe.shortened(40)), .bad))
  }

  /// Invites one device of the member. Its code is shown after the relay has accepted it.
  func invite(_ name: String) async {
    if let person = member(name) { await invite(person) }
  }

  func invite(_ person: Person) async {
    let ticket = JoinTicket()
    let invitation = ticket.invitation(for: person.id, until: .now + Self.invitationTime)
    invited[ticket.publicKey] = invitation
    waitingCodes.append(ticket)
    await act(.invite(invitation))
    if shownRelay != .connected { write(renderer.text(wording(.codeWaits), .faint)) }
  }

  /// Shows the codes of accepted invitations. Each admits one device while this session runs.
  func showCodes(_ timeline: Timeline) {
    guard let credential = host.configuration.credentials.first(where: { $0.address == address })
    else { return }
    let accepted = waitingCodes.filter { timeline.link.isInvited($0.publicKey) }
    waitingCodes.removeAll { ticket in accepted.contains { $0.publicKey == ticket.publicKey } }
    for ticket in accepted {
      guard let invitation = invited[ticket.publicKey],
        let person = timeline.link.roster.person(invitation.person)
      else { continue }
      let code = JoinCode(ticket, from: credential)
      if let picture = QRCode(code.text), picture.columns <= renderer.columns {
        write(picture.rows.map { Row($0, .paper) })
      }
      let agent = person.role.isGuardian ? "parent-agent" : "child-agent"
      write(renderer.text(code.text, .key))
      write(
        renderer.text(wording(.joinInstruction, "\(agent) join --credential FILE"), .faint))
    }
  }

  /// Forgets what waited for a command that the relay refused.
  func abandon(_ command: Command) {
    switch command {
    case .invite(let invitation):
      invited[invitation.key] = nil
      waitingCodes.removeAll { $0.publicKey == invitation.key }
    case .addChild: onboarding = nil
    default: break
    }
  }

  /// Adds the device of a join request to the roster, if its invitation is of this session and has
  /// not ended by this device's clock.
  func join(_ join: JoinRequest) async {
    guard let link = timeline?.link, let invitation = invited.removeValue(forKey: join.invitation),
      .now <= invitation.expires, let member = link.roster.person(invitation.person)
    else { return }
    await act(.setRoster(link.roster(adding: join, of: member.id)))
    write(renderer.text(wording(.deviceJoins, member.displayName), .good))
  }

  func addMember(_ role: Role, _ name: String) async {
    guard let link = timeline?.link else { return }
    guard !link.roster.persons.contains(where: { $0.isNamed(name) }) else {
      return showNameTaken(name)
    }
    await act(.setRoster(link.roster(adding: name, as: role)))
  }

  func showNameTaken(_ name: String) {
    write(renderer.text(wording(.nameTaken, name.displaySafe.shortened(40)), .bad))
  }

  func remove(member name: String) async {
    guard let link = timeline?.link, let person = member(name) else { return }
    guard person.role != .organizer else {
      return write(renderer.text(wording(.organizerStays, person.displayName), .bad))
    }
    await remove(isOwn: person.id == link.personID, link.roster(removing: person.id))
  }

  func remove(device number: UInt32) async {
    guard let link = timeline?.link else { return }
    let id = DeviceID(number)
    guard let owner = link.roster.owner(of: id) else {
      showNotFound("\(number)")
      return listMembers()
    }
    let next = link.roster(removing: id)
    guard owner.role != .organizer || next.devices.contains(where: { $0.person == owner.id }) else {
      return write(renderer.text(wording(.lastOrganizerDevice), .bad))
    }
    await remove(isOwn: id == address.device, next)
  }

  /// Changes the roster. A guardian confirms the removal of the device in use.
  private func remove(isOwn: Bool, _ next: Roster) async {
    guard isOwn else { return await act(.setRoster(next)) }
    open(ConfirmDialog(warning: .removeOwn, result: .roster(next)))
  }

  private func member(_ name: String) -> Person? {
    let found = timeline?.link.roster.persons.filter {
      $0.displayName.lowercased() == name.lowercased()
    }
    if found?.isEmpty ?? true { showNotFound(name) }
    if found?.count != 1 { listMembers() }
    return found?.count == 1 ? found?.first : nil
  }
}

extension Role {
  /// The phrase that names the role.
  fileprivate var phrase: Phrase {
    switch self {
    case .organizer: .roleOrganizer
    case .guardian: .roleGuardian
    case .child: .roleChild
    case .adult: .roleAdult
    }
  }
}
