import AppClient
public import DeviceConnection
import FamilyModel
public import Foundation

extension AgeRangeService {
  /// The reason why a request has no answer.
  ///
  /// Two errors of one case are equal, whatever their problems. A pattern may leave the problem
  /// out, as in `catch AgeRangeService.Error.notAvailable`.
  public enum Error: LocalizedError, Hashable, Sendable {
    /// A developer's mistake: invalid gates, or a manifest without `usesDeclaredAgeRange`.
    ///
    /// Correct the gates (problem 310), or add `"usesDeclaredAgeRange": true` to the manifest that
    /// child-agent reads (410).
    case invalidRequest(DeviceProblem)
    /// The device gives no range. The problem has the reason:
    ///
    /// - 201: a child cannot acknowledge an update; `AskCenter` asks the guardians.
    /// - 307: the app used 32 sets of gates for the person within a year.
    /// - 411: the app's rating is above the child's ceiling.
    /// - 414: a guardian withdrew the consent to the app.
    /// - 421: another process of the app runs.
    /// - 422: `PERMISSION_RELAY_DEVICE` names no credential of the app.
    case notAvailable(DeviceProblem)
    /// The set-up of the account is unfinished: the birthdate is unknown (problem 412).
    ///
    /// A guardian completes a child's account, an adult the own one.
    case declinedOnboarding
    /// The device knows no account of its owner (problem 415), as if nobody were signed in.
    case invalidAccount
    /// The device did not answer for ten seconds.
    ///
    /// Its agent is stopped or too slow. The request can be repeated.
    case network

    /// An invalid request without a known reason, for code that throws or compares the case.
    public static var invalidRequest: Self { .invalidRequest(DeviceProblem(.badAgeGates)) }
    /// An unavailable age range without a known reason, for code that throws or compares the case.
    public static var notAvailable: Self { .notAvailable(DeviceProblem(.ageNotAvailable)) }

    /// The reason in one or two English sentences.
    public var errorDescription: String? {
      switch self {
      case .invalidRequest(let problem):
        "The request is not valid (\(problem)): gates are positive, ascending and two years apart, "
          + "and the app's manifest declares the use of age ranges."
      case .notAvailable(let problem):
        "No age range is available on this device for this account (\(problem))."
      case .declinedOnboarding: "The set-up of this account is not finished."
      case .invalidAccount: "This device has no account that could share an age range."
      case .network: "The device does not answer."
      }
    }

    init(_ problem: Problem) {
      let cause = DeviceProblem(problem)
      self =
        switch problem {
        case .badAgeGates, .notDeclared: .invalidRequest(cause)
        case .ageNotAvailable: .declinedOnboarding
        case .noAccount: .invalidAccount
        default: .notAvailable(cause)
        }
    }

    /// The error for a call without an answer.
    init(reason error: any Swift.Error) {
      let problem = DeviceProblem(reason: error)
      self = problem.number == Int(Problem.deviceAway.code) ? .network : .notAvailable(problem)
    }

    private var kind: Int {
      switch self {
      case .invalidRequest: 0
      case .notAvailable: 1
      case .network: 2
      case .declinedOnboarding: 3
      case .invalidAccount: 4
      }
    }

    public static func == (a: Self, b: Self) -> Bool { a.kind == b.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
  }
}

extension AgeRangeService.AgeRange {
  init(_ range: FamilyModel.AgeRange) {
    lowerBound = range.lower.map { Int($0) }
    upperBound = range.upper.map { Int($0) }
    ageRangeDeclaration = range.declaration.map { AgeRangeService.AgeRangeDeclaration($0) }
    var controls: AgeRangeService.ParentalControls = []
    if range.controls.contains(.communicationLimits) { controls.insert(.communicationLimits) }
    if range.controls.contains(.significantAppChangeApprovalRequired) {
      controls.insert(.significantAppChangeApprovalRequired)
    }
    activeParentalControls = controls
  }
}

extension AgeRangeService.AgeRangeDeclaration {
  init(_ declaration: Account.Declaration) {
    self =
      switch declaration {
      case .selfDeclared: .selfDeclared
      case .guardianDeclared: .guardianDeclared
      case .checkedByOtherMethod: .checkedByOtherMethod
      case .guardianCheckedByOtherMethod: .guardianCheckedByOtherMethod
      case .governmentIDChecked: .governmentIDChecked
      case .guardianGovernmentIDChecked: .guardianGovernmentIDChecked
      case .paymentChecked: .paymentChecked
      case .guardianPaymentChecked: .guardianPaymentChecked
      case .confirmed: .confirmed
      }
  }
}

extension AgeRangeService.RegulatoryFeature {
  var model: RegulatoryFeatures {
    switch self {
    case .declaredAgeRangeRequired: .declaredAgeRangeRequired
    case .significantAppChangeRequiresParentalConsent: .significantAppChangeRequiresParentalConsent
    case .significantAppChangeRequiresAdultNotification:
      .significantAppChangeRequiresAdultNotification
    }
  }
}
