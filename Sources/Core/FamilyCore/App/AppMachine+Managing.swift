public import FamilyModel

/// The app's authorization to manage the child, and the settings that the app manages.
///
/// - undetermined → (the app asks, a guardian declines) denied; → (a guardian approves) approved.
/// - approved → (a guardian withdraws the approval, or it ends) denied: the stores are empty.
///
/// The settings are durable, and each attachment sends them again.
extension AppMachine {
  /// The state of the app's authorization. While the consent to the app is withdrawn, no
  /// authorization is in force.
  public var authorization: AuthorizationState {
    if visible.contains(.authorization) { return .approved }
    return isAuthorizationDenied || known.contains(.authorization) ? .denied : .undetermined
  }

  /// Updates what depends on the authorization, after an entry or a reset.
  ///
  /// - Parameter isRestored: Whether the authorization is in force, although the device does not say so.
  mutating func updateAuthorization(
    _ wasAuthorized: Bool, by entry: AppEntry? = nil, isRestored: Bool = false
  ) -> [AppRecordChange] {
    let isAuthorized = known.contains(.authorization) || isRestored
    let isDenied =
      !isAuthorized
      && (isAuthorizationDenied || wasAuthorized || entry?.deniesAuthorization ?? false)
    var changes: [AppRecordChange] = []
    if isDenied != isAuthorizationDenied {
      isAuthorizationDenied = isDenied
      changes.append(isDenied ? .put(.authorizationDenied) : .remove(.authorizationDenied))
    }
    if !isAuthorized {
      changes += managed.keys.sorted().map { .remove(.managed($0, ManagedSettings())) }
      managed = [:]
      changes += endActivities()
    }
    return changes
  }

  /// Replaces the settings of a store. Without an authorization nothing changes.
  mutating func manage(_ name: String, _ settings: ManagedSettings) -> [Effect] {
    guard known.contains(.authorization) else { return [.managed(name, .notAuthorized)] }
    guard settings != managed[name] ?? ManagedSettings() else { return [] }
    guard managed[name] != nil || managed.count < Limits.managedStores else {
      return [.managed(name, .tooMany)]
    }
    do throws(Problem) {
      try checkStore(name)
      try settings.validate()
    } catch { return [.managed(name, error)] }
    managed[name] = settings
    return [.persist([.put(.managed(name, settings))])]
      + (isConnected && isAttached ? request(name, settings) : [])
  }

  private mutating func request(_ name: String, _ settings: ManagedSettings) -> [Effect] {
    openManages[name, default: 0] += 1
    return [.send(.manage(name, settings))]
  }

  /// Sends the settings of all stores. A device replaces those that it has.
  mutating func manageAgain() -> [Effect] {
    managed.sorted { $0.key < $1.key }.flatMap { request($0.key, $0.value) }
  }

  /// The device has answered about a store. An empty one is gone, unless a later request changes the
  /// store again.
  mutating func answered(_ name: String, _ problem: Problem?) -> [Effect] {
    openManages[name] = openManages[name].flatMap { $0 > 1 ? $0 - 1 : nil }
    guard problem == nil, openManages[name] == nil, let settings = managed[name], settings.isEmpty
    else { return [.managed(name, problem)] }
    managed[name] = nil
    return [.persist([.remove(.managed(name, settings))]), .managed(name, nil)]
  }
}

/// Checks the name of a store of managed settings.
///
/// - Throws: `badText`.
func checkStore(_ name: String) throws(Problem) {
  guard 1...Limits.identifierBytes ~= name.utf8.count else { throw .badText }
}

extension AppEntry {
  /// The question for the app's authorization that the entry answers, and the answer.
  private var authorizationDecision: (id: QuestionID, isApproved: Bool)? {
    guard case .response(let question, let choice) = body, question.topic.kind == .authorization
    else { return nil }
    return (question.id, choice.answer == .approval)
  }

  fileprivate var deniesAuthorization: Bool {
    authorizationDecision.map { !$0.isApproved } ?? false
  }

  /// The effect that reports the answer to a question for the app's authorization.
  var authorizationAnswer: [AppMachine.Effect] {
    authorizationDecision.map { [.authorized($0.id, $0.isApproved)] } ?? []
  }
}
