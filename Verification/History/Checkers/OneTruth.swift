import FamilyModel

/// Checks that at rest the relay and the devices of its roster hold one truth: roster, passcode,
/// channels, limits, open questions, known handles, consents, accounts and settings.
///
/// Each device is compared with the relay and, for what the relay does not know, with the first
/// device of the family. The history needs the views of the relay.
public struct OneTruth: Checker {
  public let name = "one truth at rest"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var truths: [FamilyID: FamilyView] = [:]
    for (_, fact) in history.facts {
      if case .relayViews(let family, let view) = fact { truths[family] = view }
    }
    var unseen = Set(truths.keys)
    for (index, fact) in history.facts {
      guard case .views(let device, let view) = fact, var truth = truths[device.family] else {
        continue
      }
      unseen.remove(device.family)
      if let what = truth.merge(view, of: device.device) {
        return .violated(
          "device \(device.device.rawValue) of family \(device.family.rawValue) has \(what)",
          at: index)
      }
      truths[device.family] = truth
    }
    if let family = unseen.min() {
      return .violated("no device of family \(family.rawValue) states what it holds", at: nil)
    }
    return .ok
  }
}

extension FamilyView {
  /// Compares a device's view with this one, and adds what only devices know.
  ///
  /// - Returns: The difference; `nil` for none.
  fileprivate mutating func merge(_ view: FamilyView, of device: DeviceID) -> String? {
    guard view.roster == roster else { return "another roster" }
    guard view.passcodeKey == passcodeKey else { return "another passcode" }
    guard let person = roster.owner(of: device) else { return "no owner" }
    guard Set(generations).isSuperset(of: view.generations) else { return "another channel" }
    for child in view.children where person.role.isGuardian || person.id == child.id {
      guard let index = children.firstIndex(where: { $0.id == child.id }) else {
        return "an unknown child"
      }
      let known = children[index]
      if known.open != child.open { return "other open questions" }
      if known.limitsOn ?? child.limitsOn != child.limitsOn { return "other limits" }
      if known.known ?? child.known != child.known { return "other known handles" }
      if known.settings ?? child.settings != child.settings { return "other settings" }
      if known.withdrawn ?? child.withdrawn != child.withdrawn { return "other consents" }
      children[index].settings = child.settings ?? known.settings
      children[index].withdrawn = child.withdrawn ?? known.withdrawn
      children[index].limitsOn = child.limitsOn
      children[index].known = child.known
    }
    for state in view.persons {
      guard let known = persons.first(where: { $0.id == state.id }) else {
        persons.append(state)
        continue
      }
      if known.account != state.account { return "another account" }
      if known.age != state.age { return "other age settings" }
    }
    return nil
  }
}
