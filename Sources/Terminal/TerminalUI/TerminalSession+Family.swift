import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import QRCode
import SystemClock

extension TerminalSession {
  /// Who is in the family, and with which devices.
  func listMembers() {
    guard let roster = timeline?.link.roster else { return }
    say(
      roster.persons.flatMap { person in
        let devices = roster.devices.filter { $0.person == person.id }.map { "\($0.id.rawValue)" }
        let text = devices.isEmpty ? "no device" : "devices " + devices.joined(separator: ", ")
        return renderer.hanging(Row("\(person.displayName) ", .key), "\(person.role), \(text)")
      })
  }

  /// Shows a code that lets one device of the member join, as long as this session lasts.
  func invite(_ name: String) async {
    guard let person = member(name),
      let credential = host.configuration.credentials.first(where: { $0.address == address })
    else { return }
    let ticket = JoinTicket()
    invited[ticket.publicKey] = person.id
    await act(.invite(ticket.invitation(for: person.id, until: .now + Self.invitationTime)))
    let code = JoinCode(ticket, from: credential)
    if let picture = QRCode(code.text), picture.columns <= renderer.columns {
      say(picture.rows.map { Row($0, .paper) })
    }
    let agent = person.role.isGuardian ? "parent-agent" : "child-agent"
    say(renderer.text(code.text, .key))
    say(renderer.text("On the new device: \(agent) join --credential FILE, and this code.", .faint))
  }

  /// A device has the code of an invitation: of one of this session it is let in.
  func join(_ join: JoinRequest) async {
    guard let link = timeline?.link, let person = invited.removeValue(forKey: join.invitation),
      let member = link.roster.person(person)
    else { return }
    await act(.setRoster(link.roster(adding: join, of: person)))
    say(renderer.text("\(member.displayName)'s new device joins.", .good))
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
    guard link.roster.device(DeviceID(number)) != nil else { return listMembers() }
    await act(.setRoster(link.roster(removing: DeviceID(number))))
  }

  private func member(_ name: String) -> Person? {
    let found = timeline?.link.roster.persons.filter {
      $0.displayName.lowercased() == name.lowercased()
    }
    if found?.count != 1 { listMembers() }
    return found?.count == 1 ? found?.first : nil
  }
}
