public import FamilyModel

/// A step of a child's set-up, after the account exists.
public enum OnboardingStep: Hashable, Sendable, CaseIterable {
  /// A guardian confirms the birthdate.
  case birthdate
  /// A guardian chooses whether apps receive age ranges.
  case sharing
  /// A device of the child joins.
  case device
}

extension DeviceLink {
  /// The steps of the child's set-up that are not done, in order.
  ///
  /// The steps are derived from the family's log, so that any guardian can finish the set-up later.
  public func onboarding(of child: PersonID) -> [OnboardingStep] {
    OnboardingStep.allCases.filter { step in
      switch step {
      case .birthdate: accounts[child]?.birthdate == nil
      case .sharing: !age(of: child).isChosen
      case .device: !roster.devices.contains { $0.person == child }
      }
    }
  }
}
