/// An age range as an app is told it (D3): never a birthdate.
public struct AgeRange: Hashable, Sendable {
  /// The lowest age, in completed years; `nil`: below the lowest gate.
  public var lower: Int32?
  /// The highest age; `nil`: at or above the highest gate.
  public var upper: Int32?
  /// How the age was declared (D4); `nil` where saying it would say the age.
  public var declaration: Account.Declaration?
  /// What guardians have switched on (D5).
  public var controls: AgeControls
  /// A range of these parts.
  public init(
    lower: Int32?, upper: Int32?, declaration: Account.Declaration?, controls: AgeControls = []
  ) {
    self.lower = lower
    self.upper = upper
    self.declaration = declaration
    self.controls = controls
  }
}

/// What guardians have switched on for a child (D5).
public struct AgeControls: OptionSet, Hashable, Sendable {
  /// The bits.
  public var rawValue: UInt32
  /// The controls of these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Communication limits are on (F6).
  public static let communicationLimits = AgeControls(rawValue: 1)
  /// A guardian approves significant changes of the app.
  public static let significantAppChangeApprovalRequired = AgeControls(rawValue: 2)
}

extension Account.Declaration {
  /// From this age on a minor is a teen, who may have an account without a family group (D4).
  public static let teenAge: Int32 = 13

  /// What an app is told of an account with this declaration, for somebody of this age (D4).
  public func told(age: Int32, majority: Int32, isInFamily: Bool) -> Self {
    let byGuardian = age < Self.teenAge || age < majority && isInFamily
    return switch self {
    case .selfDeclared, .guardianDeclared: byGuardian ? .guardianDeclared : .selfDeclared
    case .checkedByOtherMethod, .guardianCheckedByOtherMethod:
      byGuardian ? .guardianCheckedByOtherMethod : .checkedByOtherMethod
    case .governmentIDChecked, .guardianGovernmentIDChecked:
      byGuardian ? .guardianGovernmentIDChecked : .governmentIDChecked
    case .paymentChecked, .guardianPaymentChecked:
      byGuardian ? .guardianPaymentChecked : .paymentChecked
    }
  }
}

/// What an app asks `DeclaredAgeRange` for.
public enum AgeRequest: Hashable, Sendable {
  /// The range between these gates.
  case range(gates: [Int32])
  /// What the law of the person's region asks.
  case status
  /// Have an adult take note of a significant update.
  case acknowledge(description: String)
}

/// The answer to it.
public enum AgeReply: Hashable, Sendable {
  /// The range is shared.
  case shared(AgeRange)
  /// It is not.
  case declined
  /// What the law of the person's region asks; eligible where it asks anything.
  case status(isEligible: Bool, features: RegulatoryFeatures)
  /// The person has taken note.
  case acknowledged
  /// The request was refused.
  case failed(Problem)
}
