/// The copy of a relay's store that the operator requested last.
public struct BackupState: Codable, Sendable, Hashable {
  /// A random name that tells this copy from others.
  public var id: String
  /// The copy's file, in the relay's folder.
  public var path: String
  /// Pages that are copied.
  public var copied = 0
  /// Pages of the store.
  public var total = 0
  /// When the copy was complete and synced, in seconds since 1970; `nil` before.
  public var completed: Double?
  /// Why the copy failed; `nil` if it did not.
  public var failure: String?

  /// A copy that has just begun.
  public init(id: String, path: String) {
    self.id = id
    self.path = path
  }

  /// Whether the copy is under way.
  public var isUnderWay: Bool { completed == nil && failure == nil }
}
