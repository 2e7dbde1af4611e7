import FamilyModel

/// The open requests for age ranges, and their prompts.
///
/// - `waiting` → (first of its app, and the person must decide) `prompted` → (answered) done.
///
/// An app has at most one prompt at a time. After an answer the next request is decided again,
/// because the answer may settle it. The queue is not durable: an app without an answer repeats its
/// request after a restart.
struct AgeRequestQueue: Sendable {
  /// The largest number of waiting requests of one app. Further ones are refused.
  static let requests = 16

  struct Request: Hashable, Sendable {
    var app: AppID
    var id: UInt64
    var gates: [Int32]
    /// The name of the app's window that asks; empty: none given.
    var window = ""
  }

  enum Flow: Hashable, Sendable {
    /// The person decides whether to share the answer with the app.
    case share(AppID, AgeAnswer)
    /// A guardian types the passcode to change a child's settings.
    case passcode(AgeSettings)
    /// The relay evaluates the passcode.
    case evaluating(AgeSettings)
    /// The shell checks the passcode and signs for the command with this id.
    case checking(AgeSettings, CommandID)
  }

  private(set) var waiting: [Request] = []
  private var flows: [UInt64: Flow] = [:]

  /// Adds a request.
  ///
  /// - Returns: `false` if the app has too many waiting requests.
  mutating func add(_ request: Request) -> Bool {
    guard !waiting.contains(request) else { return true }
    guard waiting.count(where: { $0.app == request.app }) < Self.requests else { return false }
    waiting.append(request)
    return true
  }

  func first(of app: AppID) -> Request? { waiting.first { $0.app == app } }

  /// Whether the app has a prompt.
  func hasPrompt(for app: AppID) -> Bool {
    flows.contains { if case .share(app, _) = $0.value { true } else { false } }
  }

  mutating func remove(_ request: Request) { waiting.removeAll { $0 == request } }

  /// Removes the requests of an app whose connection ended. The app's prompt stays.
  mutating func removeAll(of app: AppID) { waiting.removeAll { $0.app == app } }

  /// Removes and returns the requests of an app. The app's prompt stays, and its answer ends nothing.
  mutating func endAll(of app: AppID) -> [Request] {
    defer { removeAll(of: app) }
    return waiting.filter { $0.app == app }
  }

  mutating func startFlow(_ prompt: UInt64, _ flow: Flow) { flows[prompt] = flow }
  mutating func endFlow(_ prompt: UInt64) -> Flow? { flows.removeValue(forKey: prompt) }
}
