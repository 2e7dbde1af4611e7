public import FamilyModel

/// Why a handle is known in one app, or is not.
///
/// Guardians, the child's own device and an app's tests receive explanations. An app that runs on a
/// device receives none, because an explanation names the people who decided.
public struct HandleExplanation: Hashable, Sendable {
  /// A fact that makes a handle known or unknown, or that keeps an app from using it.
  public enum Rule: Hashable, Sendable {
    /// The text is no handle of its kind.
    case notAHandle(Problem)
    /// No request was about the handle, and no guardian added it to the contacts.
    case neverAsked
    /// A request waits in this device's outbox.
    case sending
    /// A request has waited for an answer since a moment; `until` is its expiration.
    case waiting(since: Instant, until: Instant?)
    /// A request expired without an answer.
    case expired(at: Instant)
    /// The child cancelled the last request, made at this moment.
    case cancelled(asked: Instant)
    /// A guardian approved the handle; `ends` is the end of the approval.
    case approved(by: PersonID, at: Instant, ends: Instant?)
    /// A guardian approved the handle until a moment that has passed.
    case approvalEnded(by: PersonID, at: Instant, ended: Instant)
    /// A guardian declined the last request.
    case declined(by: PersonID, at: Instant)
    /// A guardian withdrew the approval.
    case withdrawn(by: PersonID, at: Instant)
    /// A guardian added the handle to the contacts.
    case contact(by: PersonID, at: Instant)
    /// A guardian removed the handle from the contacts.
    case contactRemoved(by: PersonID, at: Instant)
    /// This device cannot open some requests, which may be about the handle.
    case unreadable
    /// The child's communication limits are off: requests get their default answer.
    case limitsOff
    /// A guardian withdrew the consent to use the app.
    case consentWithdrawn(by: PersonID, at: Instant)
    /// The app's rating is above the child's ceiling, so the device refuses the app's calls.
    case ratedAbove
    /// The app has not acknowledged the device's newest entry about the handle.
    case notTaken
    /// The app has not acknowledged it, and has never registered for updates.
    case neverListened
    /// The app has not named the handle, so the device does not report it to the app.
    case notNamed

    /// The rule's name in machine-readable output. A name is never reused.
    public var name: String {
      switch self {
      case .notAHandle: "not-a-handle"
      case .neverAsked: "never-asked"
      case .sending: "sending"
      case .waiting: "waiting"
      case .expired: "expired"
      case .cancelled: "cancelled"
      case .approved: "approved"
      case .approvalEnded: "approval-ended"
      case .declined: "declined"
      case .withdrawn: "withdrawn"
      case .contact: "contact"
      case .contactRemoved: "contact-removed"
      case .unreadable: "unreadable"
      case .limitsOff: "limits-off"
      case .consentWithdrawn: "consent-withdrawn"
      case .ratedAbove: "rated-above"
      case .notTaken: "not-taken"
      case .neverListened: "never-listened"
      case .notNamed: "not-named"
      }
    }

    /// The person who decided, and when; `nil` if no person did.
    public var decision: (by: PersonID, at: Instant)? {
      switch self {
      case .approved(let by, let at, _), .approvalEnded(let by, let at, _),
        .declined(let by, let at), .withdrawn(let by, let at),
        .contact(let by, let at), .contactRemoved(let by, let at),
        .consentWithdrawn(let by, let at):
        (by, at)
      default: nil
      }
    }
  }

  /// A known handle that a person could mistake for the unknown one.
  public enum NearMiss: Hashable, Sendable {
    /// The same user name is known in another app only.
    case otherApp(AppID)
    /// The same text is known as a handle of another kind.
    case otherKind(Handle)
    /// A handle with a similar spelling is known.
    case otherSpelling(Handle)
  }

  /// The handle in canonical form.
  public var handle: Handle
  /// The app in which the handle is known or not.
  public var app: AppID
  /// Whether the handle is known on the device that explains.
  public var isKnown: Bool
  /// The rule that decides ``isKnown``.
  public var rule: Rule
  /// The number of the request that the rule is about; `nil` for a rule about no request.
  public var request: UInt64?
  /// Further facts that keep the app from using the handle, or from asking.
  public var conditions: [Rule] = []
  /// Known handles that resemble an unknown one.
  public var nearMisses: [NearMiss] = []
  /// Creates an explanation without conditions and near misses.
  public init(handle: Handle, app: AppID, isKnown: Bool, rule: Rule) {
    self.handle = handle
    self.app = app
    self.isKnown = isKnown
    self.rule = rule
  }

  /// When the answer can change without an act of a person; `nil` if it cannot.
  public var nextChange: Instant? {
    switch rule {
    case .waiting(_, let until): until
    case .approved(_, _, let ends): isKnown ? ends : nil
    default: nil
    }
  }
}
