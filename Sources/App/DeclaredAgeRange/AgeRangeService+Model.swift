import DeviceConnection
import FamilyModel
public import Foundation

extension AgeRangeService {
  /// The reason why a request has no answer.
  public enum Error: LocalizedError, Hashable, Sendable {
    /// A developer's mistake: invalid gates, or a manifest without `usesDeclaredAgeRange`.
    ///
    /// Correct the gates, or add `"usesDeclaredAgeRange": true` to the manifest that child-agent
    /// reads.
    case invalidRequest
    /// The device or the account is not set up, or the device refused.
    ///
    /// Check in this order: `PERMISSION_RELAY_DEVICE` names the app's credential, no other process
    /// of the app runs, the account has a birthdate, the app's rating is within the child's
    /// ceiling, and no guardian has withdrawn the consent to the app. An app that used 32 sets of gates for one person within a year has this error for
    /// further sets.
    case notAvailable

    /// The reason in one English sentence.
    public var errorDescription: String? {
      switch self {
      case .invalidRequest:
        "The request is not valid: gates are positive, ascending and two years apart, and the app's "
          + "manifest declares the use of age ranges."
      case .notAvailable: "No age range is available on this device for this account."
      }
    }

    init(_ problem: Problem) {
      self = problem == .badAgeGates || problem == .notDeclared ? .invalidRequest : .notAvailable
    }
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

/// The request of ``AgeRangeService`` as a value, in the place of SwiftUI's environment value.
public struct DeclaredAgeRangeAction: Sendable {
  /// Creates the action.
  public init() {}

  /// Requests the age range; see ``AgeRangeService/requestAgeRange(ageGates:_:_:in:)``.
  ///
  /// - Throws: ``AgeRangeService/Error``
  public func callAsFunction(
    ageGates threshold1: Int, _ threshold2: Int? = nil, _ threshold3: Int? = nil
  )
    async throws -> AgeRangeService.Response
  {
    struct Nowhere: PresentationAnchor {}
    return try await AgeRangeService.shared.requestAgeRange(
      ageGates: threshold1, threshold2, threshold3, in: Nowhere())
  }
}
