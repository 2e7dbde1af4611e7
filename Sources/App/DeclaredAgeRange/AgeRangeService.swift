import AppClient
import DeviceConnection
import FamilyModel

/// Requests a person's age range from the device. The birthdate never leaves the device.
///
/// The device decides by the account, the sharing setting and its earlier answers to the app. An
/// answer stays unchanged until the anniversary of the person's first answer to any app, even
/// across a birthday. The day on which an answer changes therefore reveals no birthday.
///
/// Methods of this type may be called from any task at the same time. A call waits as long as the
/// person takes. The call throws ``Error/network`` when the device is silent for ten seconds, and
/// `CancellationError` at once when its task is cancelled.
public struct AgeRangeService: Sendable {
  /// The service of this process's device.
  public static let shared = AgeRangeService()

  private init() {}

  /// The decision of the person or of the guardians.
  public enum Response: Hashable, Sendable {
    /// The person shares the range.
    case sharing(range: AgeRange)
    /// The person, or the setting, declines.
    case declinedSharing
  }

  /// A range of ages in completed years.
  public struct AgeRange: Hashable, Sendable {
    /// The lowest age of the range; `nil`: the person is below the lowest gate.
    public let lowerBound: Int?
    /// The highest age of the range; `nil`: the person is at or above the highest gate.
    public let upperBound: Int?
    /// The source of the age; `nil` where the source would narrow the age to a single year.
    ///
    /// With `ageGates: 17`, for example, the source is `nil` for everybody of 17 or more.
    public let ageRangeDeclaration: AgeRangeDeclaration?
    /// The active parental controls; empty unless the range ends below the age of majority.
    public let activeParentalControls: ParentalControls
  }

  /// The source of an age.
  public enum AgeRangeDeclaration: String, Hashable, Codable, Sendable {
    /// The person declared the age.
    case selfDeclared
    /// A guardian declared the age.
    case guardianDeclared
    /// The person declared the age, and a method not listed here confirmed the age.
    case checkedByOtherMethod
    /// A guardian declared the age, and a method not listed here confirmed the guardian's account.
    case guardianCheckedByOtherMethod
    /// The person declared the age, and an identity document confirmed the age.
    case governmentIDChecked
    /// A guardian declared the age, and an identity document confirmed the guardian's account.
    case guardianGovernmentIDChecked
    /// The person declared the age, and a means of payment confirmed the age.
    case paymentChecked
    /// A guardian declared the age, and a means of payment confirmed the guardian's account.
    case guardianPaymentChecked
    /// A check confirmed the age or the guardian's account, and the source is not disclosed.
    case confirmed
  }

  /// The parental controls that are on for a child.
  public struct ParentalControls: OptionSet, Hashable, Sendable {
    /// One bit per control.
    public let rawValue: Int
    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Communication limits are on: unknown people need a guardian's approval through
    /// PermissionKit.
    public static let communicationLimits = ParentalControls(rawValue: 1)
    /// A guardian approves significant changes of the app.
    public static let significantAppChangeApprovalRequired = ParentalControls(rawValue: 2)
  }

  /// A duty of apps under the law of the person's region.
  public enum RegulatoryFeature: String, Hashable, Codable, Sendable, CaseIterable {
    /// The app requests the declared age range; the person cannot decline.
    case declaredAgeRangeRequired
    /// A significant change of the app needs a guardian's consent.
    case significantAppChangeRequiresParentalConsent
    /// A significant change of the app needs a notice to adults.
    case significantAppChangeRequiresAdultNotification
  }

  /// Requests the range between two neighbouring gates in which the person's age lies.
  ///
  /// Gates of 13 and 16 cut life into three ranges: up to 12, 13 to 15, and 16 or more. A gate
  /// above the age of majority counts as that age. The device may leave out a gate that would
  /// reveal a single year together with earlier answers. Where the law requires sharing, the gates
  /// of the region replace these.
  ///
  /// The first request prompts the person, unless the setting is Always or Never, or the law
  /// requires sharing. Later requests with the same gates return the stored answer, so call this
  /// method often. A dismissed prompt declines this request only: the next request prompts again.
  ///
  /// - Parameter threshold1: The lowest gate, in completed years: positive.
  /// - Parameter threshold2: The second gate: at least two years above the first.
  /// - Parameter threshold3: The third gate: at least two years above the second.
  /// - Parameter anchor: The window in which the app asks. The prompt shows its name.
  /// - Throws: ``Error``, or `CancellationError`.
  public func requestAgeRange(
    ageGates threshold1: Int, _ threshold2: Int? = nil, _ threshold3: Int? = nil,
    in anchor: some PresentationAnchor
  ) async throws -> Response {
    let gates = try [threshold1, threshold2, threshold3].compactMap { $0 }.map { gate in
      guard let gate = Int32(exactly: gate) else { throw Error.invalidRequest }
      return gate
    }
    // A gap is a mistake, as in `ageGates: 13, nil, 18`.
    if threshold2 == nil, threshold3 != nil { throw Error.invalidRequest }
    switch try await ask(.range(gates: gates), in: anchor) {
    case .shared(let range): return .sharing(range: AgeRange(range))
    case .declined: return .declinedSharing
    default: throw Error.notAvailable
    }
  }

  /// Whether age features apply to the person. They may apply without any duty.
  ///
  /// - Throws: ``Error``, for example ``Error/declinedOnboarding`` for an account without a birthdate.
  public var isEligibleForAgeFeatures: Bool {
    get async throws { try await status().isEligible }
  }

  /// The duties of apps under the law of the person's region; empty in most regions.
  ///
  /// The features depend on the region, the day and the day of the account, so they reveal nothing
  /// about the age.
  ///
  /// - Throws: ``Error``, for example ``Error/declinedOnboarding`` for an account without a birthdate.
  public var requiredRegulatoryFeatures: Set<RegulatoryFeature> {
    get async throws { try await status().features }
  }

  /// Shows an adult an alert about a significant update; returns when the person acknowledges it.
  ///
  /// A child does not acknowledge an update: `AskCenter` asks the guardians.
  ///
  /// - Parameters:
  ///   - anchor: The window in which the app asks. The prompt shows its name.
  ///   - updateDescription: The change in the app's words: 1 to 4,096 bytes of UTF-8.
  /// - Throws: ``Error/notAvailable`` for a child, and where the person dismisses the alert.
  public func showSignificantUpdateAcknowledgment(
    in anchor: some PresentationAnchor, updateDescription: String
  ) async throws {
    let request = AgeRequest.acknowledge(description: updateDescription)
    guard case .acknowledged = try await ask(request, in: anchor) else { throw Error.notAvailable }
  }

  private func status() async throws -> (isEligible: Bool, features: Set<RegulatoryFeature>) {
    guard case .status(let isEligible, let features) = try await ask(.status, in: NamedWindow(""))
    else {
      throw Error.notAvailable
    }
    return (isEligible, Set(RegulatoryFeature.allCases.filter { features.contains($0.model) }))
  }

  private func ask(_ request: AgeRequest, in anchor: some PresentationAnchor) async throws
    -> AgeReply
  {
    let window = anchor.shortWindowName
    let reply: AgeReply
    do {
      reply = try await AppSession.current().ask(request, in: window)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw Error(reason: error)
    }
    if case .failed(let problem) = reply { throw Error(problem) }
    return reply
  }
}
