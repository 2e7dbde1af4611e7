/// The state of an app's authorization to manage the child.
public enum AuthorizationState: Hashable, Sendable {
  /// No guardian has answered the app.
  case undetermined
  /// A guardian declined the app's question, or the authorization has ended.
  case denied
  /// The authorization is in force.
  case approved
}
