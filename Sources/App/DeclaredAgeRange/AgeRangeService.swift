import AppClient
import DeviceConnection
import FamilyModel

/// Asks the person, or the child's guardians, for the person's age range. Never for a birthdate.
///
/// The device decides: it knows the account, the settings, and what the app was told before. An answer stays
/// as it is for a year from the first one, even when a birthday passes: nobody can read a birthday off the
/// day on which an answer changes (D8).
public struct AgeRangeService: Sendable {
  /// The service of this device.
  public static let shared = AgeRangeService()

  private init() {}

  /// What the person, or the guardians, decided.
  public enum Response: Hashable, Sendable {
    /// The range is shared.
    case sharing(range: AgeRange)
    /// It is not.
    case declinedSharing
  }

  /// Ages in completed years.
  public struct AgeRange: Hashable, Sendable {
    /// The lowest age of the range; `nil`: below the lowest gate.
    public let lowerBound: Int?
    /// The highest age of the range; `nil`: at or above the highest gate.
    public let upperBound: Int?
    /// How the age was declared.
    public let ageRangeDeclaration: AgeRangeDeclaration?
    /// What guardians have switched on; empty unless the range ends below the age of majority (D5).
    public let activeParentalControls: ParentalControls
  }

  /// How an age was declared (D4).
  public enum AgeRangeDeclaration: String, Hashable, Codable, Sendable {
    /// By the person.
    case selfDeclared
    /// By a guardian.
    case guardianDeclared
    /// By the person, and checked in another way than those below.
    case checkedByOtherMethod
    /// By a guardian, and the guardian's account is checked in another way than those below.
    case guardianCheckedByOtherMethod
    /// By the person, checked by an identity document.
    case governmentIDChecked
    /// By a guardian whose account is checked by an identity document.
    case guardianGovernmentIDChecked
    /// By the person, checked by a means of payment.
    case paymentChecked
    /// By a guardian whose account is checked by a means of payment.
    case guardianPaymentChecked
  }

  /// What guardians have switched on for a child.
  public struct ParentalControls: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int
    /// The controls of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Communication limits are on: ask with `PermissionKit` before new people are let in.
    public static let communicationLimits = ParentalControls(rawValue: 1)
    /// A guardian approves significant changes of the app.
    public static let significantAppChangeApprovalRequired = ParentalControls(rawValue: 2)
  }

  /// What the law of the person's region asks of an app (D12).
  public enum RegulatoryFeature: String, Hashable, Codable, Sendable, CaseIterable {
    /// The app has to ask for the declared age range; sharing cannot be declined.
    case declaredAgeRangeRequired
    /// A guardian has to agree to significant changes of the app.
    case significantAppChangeRequiresParentalConsent
    /// An adult has to be told of significant changes of the app.
    case significantAppChangeRequiresAdultNotification
  }

  /// Asks for the age range between gates: one to three ages that cut life into ranges.
  ///
  /// A gate above the age of majority counts as that age (D2).
  ///
  /// - Parameter anchor: Where the system may show a prompt.
  /// - Throws: ``Error/invalidRequest`` for gates that are not positive, not ascending, or less than two years
  ///   apart, and for an app whose manifest does not declare the use (D14); ``Error/notAvailable`` where
  ///   no birthdate is known.
  public func requestAgeRange(
    ageGates threshold1: Int, _ threshold2: Int? = nil, _ threshold3: Int? = nil,
    in anchor: some PresentationAnchor
  ) async throws -> Response {
    let gates = try [threshold1, threshold2, threshold3].compactMap { $0 }.map { gate in
      guard let gate = Int32(exactly: gate) else { throw Error.invalidRequest }
      return gate
    }
    // A gap is no gate left out: `ageGates: 13, nil, 18` is a mistake.
    if threshold2 == nil, threshold3 != nil { throw Error.invalidRequest }
    switch try await ask(.range(gates: gates)) {
    case .shared(let range): return .sharing(range: AgeRange(range))
    case .declined: return .declinedSharing
    default: throw Error.notAvailable
    }
  }

  /// Whether the person's region and account have age features at all.
  ///
  /// - Throws: ``Error``
  public var isEligibleForAgeFeatures: Bool {
    get async throws { try await status().isEligible }
  }

  /// What the law of the person's region asks of the app; empty in most regions.
  ///
  /// - Throws: ``Error``
  public var requiredRegulatoryFeatures: Set<RegulatoryFeature> {
    get async throws { try await status().features }
  }

  /// Shows an adult what changed in the app; returns when the person has taken note.
  ///
  /// - Throws: ``Error``
  public func showSignificantUpdateAcknowledgment(
    in anchor: some PresentationAnchor, updateDescription: String
  ) async throws {
    guard case .acknowledged = try await ask(.acknowledge(description: updateDescription)) else {
      throw Error.notAvailable
    }
  }

  private func status() async throws -> (isEligible: Bool, features: Set<RegulatoryFeature>) {
    guard case .status(let isEligible, let features) = try await ask(.status) else {
      throw Error.notAvailable
    }
    return (isEligible, Set(RegulatoryFeature.allCases.filter { features.contains($0.model) }))
  }

  private func ask(_ request: AgeRequest) async throws -> AgeReply {
    guard let session = try? AppSession.current() else { throw Error.notAvailable }
    let reply = await session.ask(request)
    if case .failed(let problem) = reply { throw Error(problem) }
    return reply
  }
}
