import FamilyCore
import FamilyModel
import Wording

/// A child's set-up, and the adult owner's own account.
extension TerminalSession {
  /// Begins or continues a child's set-up. A name that no member has creates the account first.
  func onboard(_ name: String) async {
    guard let roster = timeline?.link.roster else { return }
    let members = roster.persons.filter { $0.isNamed(name) }
    if members.contains(where: { $0.role != .child }) { return showNameTaken(name) }
    if let child = members.first { return continueOnboarding(of: child, isFirst: true) }
    onboarding = name
    await act(.addChild(displayName: name))
  }

  /// Begins the set-up of the child that this session creates, once the relay has accepted it.
  func beginOnboarding(_ timeline: Timeline) {
    guard let name = onboarding,
      let child = timeline.link.roster.children.first(where: { $0.isNamed(name) })
    else { return }
    onboarding = nil
    continueOnboarding(of: child, isFirst: true)
  }

  private func continueOnboarding(of child: Person, isFirst: Bool) {
    let steps = timeline?.link.onboarding(of: child.id) ?? []
    guard !steps.isEmpty else {
      return write(renderer.text(wording(.onboardDone, child.displayName), .good))
    }
    open(OnboardingDialog(child: child, steps: steps, isFirst: isFirst))
  }

  /// Carries out a step's answer, and asks the next one; `nil` leaves the set-up.
  func onboard(_ child: Person, _ answer: OnboardingDialog.Answer?, next: [OnboardingStep]) async {
    switch answer {
    case .birthdate(let day): await set(day, of: child)
    case .sharing(let sharing):
      var settings = timeline?.link.age(of: child.id).settings ?? AgeSettings()
      settings.sharing = sharing
      await act(.setAge(child.id, settings))
    case .invite:
      write(renderer.text(wording(.onboardDone, child.displayName), .good))
      await invite(child)
    case .later, nil:
      let command = "onboard \(child.displayName)"
      write(renderer.text(wording(.onboardLeft, child.displayName, command), .faint))
    }
    guard answer != nil, !next.isEmpty else {
      if case .sharing = answer {
        write(renderer.text(wording(.onboardDone, child.displayName), .good))
      }
      return
    }
    open(OnboardingDialog(child: child, steps: next, isFirst: false))
  }

  /// Sets the birthdate and keeps the account's other values.
  ///
  /// A new account gets the guardian's region.
  func set(_ day: Account.Day, of child: Person) async {
    guard let link = timeline?.link else { return }
    let known = link.accounts[child.id]
    let account = Account(
      birthdate: day, region: (known ?? link.accounts[link.personID])?.region ?? "US",
      declaration: .guardianDeclared, timeZone: known?.timeZone ?? "")
    await act(.setAccount(child.id, account))
  }

  /// Sets the owner's own birthdate and region. The relay and every device refuse a child's.
  func setOwn(_ day: Account.Day, region: String?) async {
    guard let link = timeline?.link else { return }
    let known = link.accounts[link.personID]
    let account = Account(
      birthdate: day, region: region ?? known?.region ?? "US", declaration: .selfDeclared,
      timeZone: known?.timeZone ?? "")
    if isGuardian {
      await act(.setAccount(link.personID, account))
    } else {
      await host.act(ChildMachine.Input.setOwnAccount(account), on: address)
    }
  }
}

extension Person {
  /// Whether a typed name means this person.
  func isNamed(_ name: String) -> Bool { displayName.lowercased() == name.lowercased() }
}
