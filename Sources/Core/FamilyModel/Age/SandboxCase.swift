/// A named test account for developers, with the answers of both frameworks.
///
/// The first five cases are those of Apple's sandbox: ``answers`` states what both frameworks
/// answer, whatever the account of the person. The other cases set an account.
public enum SandboxCase: String, CaseIterable, Sendable {
  /// Apple's “Under 13, approved”.
  case under13 = "under-13"
  /// Apple's “Ages 13 - 15, approved”.
  case ages13To15 = "13-15"
  /// Apple's “Ages 16 - 17, declined”.
  case ages16To17 = "16-17"
  /// Apple's “18+, self declared”.
  case adultSelfDeclared = "18-self-declared"
  /// Apple's “18+, payment checked”.
  case adultPaymentChecked = "18-payment-checked"
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
    case .under13, .child9: 9
    case .ages13To15, .teen14, .teen14Declined, .teen14Revoked, .teen14Texas, .teen14NoLimits: 14
    case .ages16To17, .teen16Payment: 16
    case .adultSelfDeclared, .adultPaymentChecked, .adult42, .adult42ID: 42
    case .noBirthdate: nil
    }
  }

  /// The guardian's behaviour towards PermissionKit.
  public var consent: Consent {
    switch self {
    case .ages16To17, .teen14Declined: .declined
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
      case .under13, .ages13To15, .ages16To17, .teen16Payment: .guardianPaymentChecked
      case .adultPaymentChecked: .paymentChecked
      case .adult42ID: .governmentIDChecked
      case .adult42, .adultSelfDeclared: .selfDeclared
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

/// The answers of both frameworks in a case of Apple's sandbox.
public struct SandboxAnswers: Hashable, Sendable {
  /// The answer of PermissionKit.
  public enum Response: String, Hashable, Sendable {
    /// A guardian's device approves each question.
    case approve
    /// A guardian's device declines each question.
    case decline
    /// The call fails with `AskError.systemError`.
    case systemError
  }

  /// The age range, without controls, whatever the gates of the request.
  public var range: AgeRange
  /// Whether a significant update needs a guardian's approval.
  public var needsUpdateNotice: Bool
  /// The answer of PermissionKit.
  public var response: Response

  /// The duties that the app is told. Sharing is required in each case, so the range needs no
  /// prompt.
  public var features: RegulatoryFeatures {
    needsUpdateNotice
      ? [.declaredAgeRangeRequired, .significantAppChangeRequiresParentalConsent]
      : .declaredAgeRangeRequired
  }

  /// The range with its controls.
  public func range(limitsOn: Bool) -> AgeRange {
    var range = range
    guard range.upper != nil else { return range }
    if limitsOn { range.controls.insert(.communicationLimits) }
    if needsUpdateNotice { range.controls.insert(.significantAppChangeApprovalRequired) }
    return range
  }
}

extension SandboxCase {
  /// The answers in a case of Apple's sandbox; `nil` for a case that sets an account.
  public var answers: SandboxAnswers? {
    func minor(_ lower: Int32?, _ upper: Int32, _ response: SandboxAnswers.Response)
      -> SandboxAnswers
    {
      SandboxAnswers(
        range: AgeRange(lower: lower, upper: upper, declaration: .guardianPaymentChecked),
        needsUpdateNotice: true, response: response)
    }
    func adult(_ declaration: Account.Declaration) -> SandboxAnswers {
      SandboxAnswers(
        range: AgeRange(lower: 18, upper: nil, declaration: declaration),
        needsUpdateNotice: false, response: .systemError)
    }
    return switch self {
    case .under13: minor(nil, 12, .approve)
    case .ages13To15: minor(13, 15, .approve)
    case .ages16To17: minor(16, 17, .decline)
    case .adultSelfDeclared: adult(.selfDeclared)
    case .adultPaymentChecked: adult(.paymentChecked)
    default: nil
    }
  }
}
