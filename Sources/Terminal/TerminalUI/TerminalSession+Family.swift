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

  /// Shows a code that admits one device of the member, while this session runs.
  func invite(_ name: String) async {
    guard let person = member(name),
      let credential = host.configuration.credentials.first(where: { $0.address == address })
    else { return }
    let ticket = JoinTicket()
    invited[ticket.publicKey] = person.id
    await act(.invite(ticket.invitation(for: person.id, until: .now + Self.invitationTime)))
    let code = JoinCode(ticket, from: credential)
    if let picture = QRCode(code.text), picture.columns <= renderer.columns {
      write(picture.rows.map { Row($0, .paper) })
    }
    let agent = person.role.isGuardian ? "parent-agent" : "child-agent"
    write(renderer.text(code.text, .key))
    write(
      renderer.text(wording(.joinInstruction, "\(agent) join --credential FILE"), .faint))
  }

  /// Adds the device of a join request to the roster, if its invitation is of this session.
  func join(_ join: JoinRequest) async {
    guard let link = timeline?.link, let person = invited.removeValue(forKey: join.invitation),
      let member = link.roster.person(person)
    else { return }
    await act(.setRoster(link.roster(adding: join, of: person)))
    write(renderer.text(wording(.deviceJoins, member.displayName), .good))
  }

  func addMember(_ role: Role, _ name: String) async {
    guard let link = timeline?.link else { return }
    await act(.setRoster(link.roster(adding: name, as: role)))
  }

  func remove(member name: String) async {
    guard let link = timeline?.link, let person = member(name) else { return }
    await act(.setRoster(link.roster(removing: person.id)))
  }

  func remove(device number: UInt32) async {
    guard let link = timeline?.link else { return }
    guard link.roster.device(DeviceID(number)) != nil else {
      showNotFound("\(number)")
      return listMembers()
    }
    await act(.setRoster(link.roster(removing: DeviceID(number))))
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
