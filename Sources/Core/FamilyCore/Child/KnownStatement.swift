public import FamilyModel

/// The statements of one kind about a handle.
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
  /// The change that one statement makes.
  public struct Change: Hashable, Sendable {
    /// Whether the statement makes the handle known.
    public var isKnown: Bool
    /// The end of an approval with an end.
    public var until: Instant?
    /// Creates a change.
    public init(isKnown: Bool, until: Instant? = nil) {
      self.isKnown = isKnown
      self.until = until
    }
  }
  /// The kind of the statements.
  public var kind: Kind
  /// The handle in canonical form.
  public var handle: Handle
  /// The statements that count, or may count later.
  public var changes: Statements<Change>
  /// Creates the statements about a handle in canonical form.
  public init(kind: Kind, handle: Handle, changes: Statements<Change>) {
    self.kind = kind
    self.handle = handle
    self.changes = changes
  }
}
