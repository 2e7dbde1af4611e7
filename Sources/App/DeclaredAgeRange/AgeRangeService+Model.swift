import DeviceConnection
import FamilyModel
public import Foundation

extension AgeRangeService {
  /// Why there is no answer.
  public enum Error: LocalizedError, Hashable, Sendable {
    /// The developer's mistake: gates that are too close together, say, or a manifest without the entry.
    case invalidRequest
    /// The device or the account is not set up.
    case notAvailable

    /// What happened, in a sentence.
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

/// The request of ``AgeRangeService`` as a plain value, where Apple has SwiftUI's environment.
public struct DeclaredAgeRangeAction: Sendable {
  /// The action.
  public init() {}

  /// See ``AgeRangeService/requestAgeRange(ageGates:_:_:in:)``.
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
