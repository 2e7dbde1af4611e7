import FamilyCore
import FamilyModel
import Wording

/// The family's settings that no line of a conversation shows. The session announces their changes.
struct FamilySummary: Equatable {
  private struct Child: Equatable {
    var name: String
    var limitsOn: Bool
    var known: [KnownHandle]
    var birthdate: Account.Day?
  }
  private var children: [PersonID: Child] = [:]
  private var passcode: Passcode?
  /// The members and their devices, which guardians' screens announce.
  private var roster: Roster?
  /// The owner's name, and the birthdate of an owner who is not one of the children.
  private var name = ""
  private var birthdate: Account.Day?

  /// - Parameter name: The owner's name.
  init(_ timeline: Timeline, name: String = "") {
    self.name = name
    if !timeline.children.contains(where: { $0.id == timeline.link.personID }) {
      birthdate = timeline.link.accounts[timeline.link.personID]?.birthdate
    }
    passcode = timeline.link.passcode
    if timeline.link.person?.role.isGuardian ?? false { roster = timeline.link.roster }
    for child in timeline.children {
      let conversation = timeline.link.conversations[child.id] ?? Conversation()
      children[child.id] = Child(
        name: child.displayName, limitsOn: conversation.limitsOn,
        known: KnownHandle.all(in: conversation, at: timeline.renderer.now),
        birthdate: timeline.link.accounts[child.id]?.birthdate)
    }
  }

  /// One row per setting that differs from `old`.
  func changes(since old: FamilySummary, _ renderer: Renderer) -> [Row] {
    let wording = renderer.wording
    var texts: [String] = []
    if let passcode, passcode != old.passcode { texts.append(wording(.passcodeSet)) }
    if let birthdate, birthdate != old.birthdate {
      texts.append(wording(.birthdateSet, name, birthdate.iso))
    }
    if let roster, let before = old.roster { texts += changes(from: before, to: roster, wording) }
    for id in children.keys.sorted() {
      let child = children[id]!
      guard let before = old.children[id] else {
        texts.append(wording(.childAdded, child.name))
        continue
      }
      if child.limitsOn != before.limitsOn {
        texts.append(wording(child.limitsOn ? .limitsOn : .limitsOff, child.name))
      }
      let added = child.known.filter { known in
        !before.known.contains { $0.withdrawal == known.withdrawal }
      }.map { $0.text(renderer) }
      let removed = before.known.filter { known in
        !child.known.contains { $0.withdrawal == known.withdrawal }
      }.map { $0.text(renderer) }
      if !added.isEmpty { texts.append(wording(.contactsAdded, wording.list(added))) }
      if !removed.isEmpty { texts.append(wording(.contactsRemoved, wording.list(removed))) }
      if let day = child.birthdate, day != before.birthdate {
        texts.append(wording(.birthdateSet, child.name, day.iso))
      }
    }
    return texts.flatMap { renderer.centred($0) }
  }

  /// The members and devices that joined or left. ``changes(since:_:)`` announces new children.
  private func changes(from old: Roster, to new: Roster, _ wording: Wording) -> [String] {
    var texts: [String] = []
    for person in old.persons where new.person(person.id) == nil {
      texts.append(wording(.memberRemoved, person.displayName))
    }
    for person in new.persons where old.person(person.id) == nil && person.role != .child {
      texts.append(wording(.childAdded, person.displayName))
    }
    for device in old.devices where new.device(device.id) == nil {
      guard let owner = new.person(device.person) else { continue }
      texts.append(wording(.deviceRemoved, owner.displayName, "\(device.id.rawValue)"))
    }
    for device in new.devices where old.device(device.id) == nil {
      guard let owner = new.person(device.person) else { continue }
      texts.append(wording(.deviceAdded, owner.displayName, "\(device.id.rawValue)"))
    }
    return texts
  }
}
