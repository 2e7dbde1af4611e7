/// A named test account for developers, with the answers of both frameworks.
public enum SandboxCase: String, CaseIterable, Sendable {
  /// Nine years old.
  case child9 = "child-9"
  /// Fourteen years old.
  case teen14 = "teen-14"
  /// Fourteen years old; the guardian declines every question.
  case teen14Declined = "teen-14-declined"
  /// Fourteen years old; the guardian has withdrawn the consent to use the app.
  case teen14Revoked = "teen-14-revoked"
  /// Fourteen years old, in a region with legal duties for apps.
  case teen14Texas = "teen-14-texas"
  /// Fourteen years old; communication limits are off.
  case teen14NoLimits = "teen-14-no-limits"
  /// Sixteen years old; the guardian's account is checked by a means of payment.
  case teen16Payment = "teen-16-payment"
  /// Forty-two years old.
  case adult42 = "adult-42"
  /// Forty-two years old; checked by an identity document.
  case adult42ID = "adult-42-id"
  /// An account without a birthdate.
  case noBirthdate = "no-birthdate"

  /// The guardian's behaviour towards PermissionKit.
  public enum Consent: String, Sendable {
    /// The guardian approves.
    case approved
    /// The guardian declines.
    case declined
    /// The guardian has withdrawn the consent to use the app.
    case revoked
  }

  /// The age in completed years.
  public var age: Int32? {
    switch self {
    case .child9: 9
    case .teen14, .teen14Declined, .teen14Revoked, .teen14Texas, .teen14NoLimits: 14
    case .teen16Payment: 16
    case .adult42, .adult42ID: 42
    case .noBirthdate: nil
    }
  }

  /// The guardian's behaviour towards PermissionKit.
  public var consent: Consent {
    switch self {
    case .teen14Declined: .declined
    case .teen14Revoked: .revoked
    default: .approved
    }
  }

  /// Whether communication limits are on.
  public var limitsOn: Bool { self != .teen14NoLimits && age ?? 0 < 18 }

  /// The account as of `today`.
  public func account(_ today: Account.Day) -> Account {
    let declaration: Account.Declaration =
      switch self {
      case .teen16Payment: .guardianPaymentChecked
      case .adult42ID: .governmentIDChecked
      case .adult42: .selfDeclared
      default: .guardianDeclared
      }
    // The birthday lies in the past of this year and never on a 29 February.
    let birthdate = age.map {
      Account.Day(year: today.year - $0, month: today.month, day: min(today.day, 28))
    }
    return Account(
      birthdate: birthdate, region: self == .teen14Texas ? "US-TX" : "US", declaration: declaration)
  }
}
