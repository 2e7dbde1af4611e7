public import FamilyModel

/// The newest statement of one kind about a handle.
public struct KnownStatement: Hashable, Sendable {
  /// The kind of a statement.
  public enum Kind: UInt8, Sendable {
    /// The consent to the app. Such a statement has no handle.
    case consent = 0
    /// The child's contacts.
    case contact = 1
    /// An approval for all apps.
    case approved = 2
    /// An approval for one app.
    case approvedIn = 3
    /// A withdrawal from all apps.
    case withdrawn = 4
    /// An approval with an end, for all apps.
    case limited = 5
    /// An approval with an end, for one app.
    case limitedIn = 6
  }
  /// The kind of the statement.
  public var kind: Kind
  /// The handle in canonical form.
  public var handle: Handle
  /// The id of the statement's command. Ids grow with time, so the larger one is the later
  /// statement.
  public var stamp: ID128
  /// Whether the statement makes the handle known.
  public var isKnown: Bool
  /// The end of an approval with an end.
  public var until: Instant?
  /// Creates a statement about a handle in canonical form.
  public init(kind: Kind, handle: Handle, stamp: ID128, isKnown: Bool, until: Instant? = nil) {
    self.kind = kind
    self.handle = handle
    self.stamp = stamp
    self.isKnown = isKnown
    self.until = until
  }
}
