import FamilyCore
import FamilyModel

/// A change of the family or of a child's settings, for the history.
struct SettingsChange {
  var seq: UInt64
  var at: Instant
  var device: DeviceID
  /// The child whose settings changed; `nil` for a change of the family.
  var child: PersonID?
  var description: LineDescription
}

extension FamilyView {
  /// The changes of contacts, limits, accounts, age settings, members, devices and the passcode.
  ///
  /// Conversations have lines for everything else.
  var settingsChanges: [SettingsChange] {
    var changes: [SettingsChange] = []
    var roster = Roster()
    var ages: [PersonID: AgeSettings] = [:]
    for event in link.restored.sorted(by: { $0.seq < $1.seq }) {
      func add(_ kind: String, _ text: String, of child: PersonID? = nil) {
        changes.append(
          SettingsChange(
            seq: event.seq, at: event.at, device: event.device, child: child,
            description: LineDescription(kind: kind, text: text)))
      }
      switch event.body {
      case .rosterChanged(let next):
        for text in Self.changes(from: roster, to: next) { add("family", text) }
        roster = next
      case .passcodeChanged: add("passcode", "set the Screen Time passcode")
      case .limitsChanged(let child, let on):
        add("limits", "turned communication limits \(on ? "on" : "off")", of: child)
      case .contactChanged(let child, .contact(let handle, let known)):
        add("contact", "\(known ? "added" : "removed") the contact \(handle.value)", of: child)
      case .accountChanged(let person, .account(let account)):
        let day = account.birthdate?.iso ?? "unknown"
        add("account", "set the birthdate \(day), region \(account.region)", of: person)
      case .ageSet(let person, .ageSettings(let settings), _):
        let before = ages.updateValue(settings, forKey: person) ?? AgeSettings()
        for text in self.changes(from: before, to: settings) { add("age", text, of: person) }
      case .settingsChanged(let child, .webRules, _):
        add("web", "changed the rules for the web", of: child)
      case .settingsChanged(let child, .webUseDeleted(let site), _):
        add("web", "deleted the reports about \(site?.name ?? "all sites")", of: child)
      case .settingsChanged(let child, .communicationSafety(let setting), _):
        add("safety", "set the check of sensitive pictures to \(setting)", of: child)
      case .ageSet(let person, .ageMemory(let app, nil), _):
        add("age", "cleared the age answers of \(name(of: app))", of: person)
      default: break
      }
    }
    return changes
  }

  private static func changes(from old: Roster, to new: Roster) -> [String] {
    func device(_ device: Device, in roster: Roster) -> String {
      "\(roster.person(device.person)?.displayName ?? "?")'s device \(device.id.rawValue)"
    }
    return new.persons.filter { old.person($0.id) == nil }
      .map { "added \($0.displayName), role \($0.role)" }
      + old.persons.filter { new.person($0.id) == nil }.map { "removed \($0.displayName)" }
      + new.devices.filter { old.device($0.id) == nil }.map { "added \(device($0, in: new))" }
      + old.devices.filter { new.device($0.id) == nil }.map { "removed \(device($0, in: old))" }
  }

  private func changes(from old: AgeSettings, to new: AgeSettings) -> [String] {
    var texts: [String] = []
    if new.sharing != old.sharing { texts.append("set age sharing to \(new.sharing.word)") }
    for app in Set(old.apps.keys).union(new.apps.keys).sorted() where old.apps[app] != new.apps[app]
    {
      texts.append(
        "set age sharing with \(name(of: app)) to \(new.apps[app]?.word ?? "the default")")
    }
    if new.ceiling != old.ceiling {
      texts.append("set the ceiling to \(new.ceiling.map { "\($0.rawValue)+" } ?? "off")")
    }
    return texts.isEmpty ? ["confirmed age sharing: \(new.sharing.word)"] : texts
  }
}

extension AgeSharing {
  /// The value that `relayctl age-sharing` takes.
  fileprivate var word: String { self == .askFirst ? "ask" : "\(self)" }
}
