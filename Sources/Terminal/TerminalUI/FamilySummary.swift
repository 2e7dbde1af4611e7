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

  init(_ timeline: Timeline) {
    passcode = timeline.link.passcode
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
}
