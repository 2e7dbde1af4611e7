/// The state of the app's authorization to manage the child.
public enum AuthorizationStatus: Int, Hashable, Sendable, CustomStringConvertible {
  /// No guardian has answered the app.
  case notDetermined
  /// A guardian declined the app's question, has withdrawn the authorization, or has withdrawn the consent
  /// to the authorized app.
  case denied
  /// The authorization is in force.
  case approved

  /// The state's name in English, for logs.
  public var description: String {
    switch self {
    case .notDetermined: "notDetermined"
    case .denied: "denied"
    case .approved: "approved"
    }
  }
}
