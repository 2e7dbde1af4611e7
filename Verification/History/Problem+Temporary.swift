public import FamilyModel

extension Problem {
  /// Whether a device sends a command with this refusal again, so that the refusal settles nothing.
  public var isTemporary: Bool {
    code >= Problem.overloaded.code || retryAfter > .zero || self == .stale || self == .forked
  }
}
