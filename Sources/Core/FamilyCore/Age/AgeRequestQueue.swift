import FamilyModel

/// The requests for age ranges that wait, and the prompts about them.
///
/// An app has at most one prompt: `waiting` → (first of its app) `prompted` → (answered) done, and the next one
/// is looked at anew, since it may be answered by what was just told. Nothing of it is durable: an app that
/// got no answer asks again after a restart.
struct AgeRequestQueue: Sendable {
  /// Requests of one app that wait at the same time; a further one is refused.
  static let requests = 16

  struct Request: Hashable, Sendable {
    var app: AppID
    var id: UInt64
    var gates: [Int32]
  }

  enum Flow: Hashable, Sendable {
    /// The person is asked whether to tell the app this.
    case share(AppID, AgeAnswer)
    /// A guardian is asked for the passcode, to change the settings of a child.
    case passcode(AgeSettings)
    /// It is being checked; the command that will be sent has this id.
    case checking(AgeSettings, CommandID)
  }

  private(set) var waiting: [Request] = []
  private var flows: [UInt64: Flow] = [:]

  /// Takes a request, unless its app has too many already.
  mutating func add(_ request: Request) -> Bool {
    guard !waiting.contains(request) else { return true }
    guard waiting.count(where: { $0.app == request.app }) < Self.requests else { return false }
    waiting.append(request)
    return true
  }

  func first(of app: AppID) -> Request? { waiting.first { $0.app == app } }

  /// Whether the person is being asked for the app.
  func hasPrompt(for app: AppID) -> Bool {
    flows.contains { if case .share(app, _) = $0.value { true } else { false } }
  }

  mutating func remove(_ request: Request) { waiting.removeAll { $0 == request } }

  /// The app has gone; its prompt stays.
  mutating func removeAll(of app: AppID) { waiting.removeAll { $0.app == app } }

  mutating func startFlow(_ prompt: UInt64, _ flow: Flow) { flows[prompt] = flow }
  mutating func endFlow(_ prompt: UInt64) -> Flow? { flows.removeValue(forKey: prompt) }
}
