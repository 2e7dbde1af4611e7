/// The age range that an app receives; never a birthdate.
public struct AgeRange: Hashable, Sendable {
  /// The lowest age in completed years; `nil`: below the lowest gate.
  public var lower: Int32?
  /// The highest age; `nil`: at or above the highest gate.
  public var upper: Int32?
  /// The method of declaration; `nil` if it would reveal the age.
  public var declaration: Account.Declaration?
  /// The controls that guardians turned on.
  public var controls: AgeControls
  /// Creates a range.
  public init(
    lower: Int32?, upper: Int32?, declaration: Account.Declaration?, controls: AgeControls = []
  ) {
    self.lower = lower
    self.upper = upper
    self.declaration = declaration
    self.controls = controls
  }
}

/// The controls that guardians turned on for a child.
public struct AgeControls: OptionSet, Hashable, Sendable {
  /// The bits.
  public var rawValue: UInt32
  /// Creates a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Communication limits are on.
  public static let communicationLimits = AgeControls(rawValue: 1)
  /// A guardian must approve significant updates of the app.
  public static let significantAppChangeApprovalRequired = AgeControls(rawValue: 2)
}

extension Account.Declaration {
  /// The age from which a minor may have an account without a family group.
  public static let teenAge: Int32 = 13

  /// The declaration that an app receives for an account with this declaration and a person of this
  /// age.
  public func disclosed(age: Int32, majority: Int32, isInFamily: Bool) -> Self {
    let byGuardian = age < Self.teenAge || age < majority && isInFamily
    return switch self {
    case .selfDeclared, .guardianDeclared: byGuardian ? .guardianDeclared : .selfDeclared
    case .checkedByOtherMethod, .guardianCheckedByOtherMethod:
      byGuardian ? .guardianCheckedByOtherMethod : .checkedByOtherMethod
    case .governmentIDChecked, .guardianGovernmentIDChecked:
      byGuardian ? .guardianGovernmentIDChecked : .governmentIDChecked
    case .paymentChecked, .guardianPaymentChecked:
      byGuardian ? .guardianPaymentChecked : .paymentChecked
    // The same at every age, so the declaration reveals nothing about the age.
    case .confirmed: .confirmed
    }
  }
}
