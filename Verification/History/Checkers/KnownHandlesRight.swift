import FamilyModel

/// Checks that an app knows only approved handles and contacts that it has named, and after
/// convergence exactly those that are not withdrawn. A custom name is known only in the app that
/// asked about it.
///
/// A device that lost its state learns the names of an app only when the app starts after the family's
/// first event.
public struct KnownHandlesRight: Checker {
  public let name = "known handles"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var models: [FamilyID: KnownModel] = [:]
    for family in log.families.keys.sorted() {
      let model = KnownModel(log.counted(family))
      guard !model.isSealed else { return .unknown("the store's contents are sealed") }
      models[family] = model
    }
    var last: [AppAddress: (index: Int, handles: Set<Handle>, named: Set<Handle>)] = [:]
    var requested: [AppAddress: Set<Handle>] = [:]
    var hasConverged = false
    // The devices that lost their state, up to their first event of the family.
    var empty: Set<DeviceAddress> = []
    for (index, fact) in history.facts {
      if case .converged = fact { hasConverged = true }
      if case .lostState(let device) = fact {
        empty.insert(device)
        last = last.filter { $0.key.device != device }
      }
      if case .applied(let device, .family, _, _) = fact { empty.remove(device) }
      if case .names(let app, let handles) = fact { requested[app, default: []].formUnion(handles) }
      guard case .knows(let app, let handles, let confirmed) = fact else { continue }
      let named = Set(confirmed)
      if !empty.contains(app.device) { last[app] = (index, Set(handles), named) }
      // A former process of the app may have named a handle without the device's confirmation.
      if !handles.allSatisfy({ named.contains($0) || requested[app]?.contains($0) ?? false }) {
        return .violated("an app knows a handle that it has not named", at: index)
      }
      if handles.contains(where: {
        !(models[app.device.family]?.wasEverKnown($0, in: app) ?? false)
      }) {
        return .violated("an app knows a handle without an approval", at: index)
      }
    }
    guard hasConverged else { return .ok }
    for app in last.keys.sorted() {
      guard let model = models[app.device.family], model.isMember(app),
        log.isJudged(app.device)
      else { continue }
      let (index, handles, named) = last[app]!
      let right = model.known(in: app)
      // A process may end after the entry and before the device's confirmation of the name.
      if !handles.isSubset(of: right) {
        return .violated("an app still knows a withdrawn handle", at: index)
      }
      if !right.filter(named.contains).allSatisfy(handles.contains) {
        return .violated("an app does not know an approved handle", at: index)
      }
    }
    return .ok
  }
}

/// The known handles, rebuilt from the log without the product's code.
///
/// Of the statements about one value, those count that no signer of another one knew. Of these, the
/// one with the latest command id decides.
struct KnownModel {
  private struct Scope: Hashable {
    var child: PersonID
    /// `nil` for all apps.
    var app: AppID?
  }
  private struct Statement {
    var seq: UInt64
    var known: UInt64
    var id: CommandID
    var isKnown: Bool
  }
  private var contacts: [PersonID: [Handle: [Statement]]] = [:]
  private var approvals: [Scope: [Handle: [Statement]]] = [:]
  /// The withdrawals, with the app that they name.
  private var withdrawals: [PersonID: [Handle: [(app: AppID?, Statement)]]] = [:]
  private var roster = Roster()
  private var owners: [DeviceID: PersonID] = [:]
  /// Whether the log has content that the checker cannot open.
  private(set) var isSealed = false

  init(_ events: [Event]) {
    var questions: [QuestionID: (QuestionHeader, Question)] = [:]
    for event in events {
      switch event.body {
      case .rosterChanged(let new):
        roster = new
        for device in new.devices { owners[device.id] = device.person }
      case .asked(let header, .question(let question)): questions[header.id] = (header, question)
      case .decided(let decision):
        guard let (header, question) = questions[decision.question] else { continue }
        approve(question, header, decision, event)
      case .answeredInPerson(let header, .question(let question), let decision, _):
        approve(question, header, decision, event)
      case .contactChanged(let child, .contact(let handle, let known)):
        contacts[child, default: [:]][handle.canonical, default: []]
          .append(statement(event, isKnown: known))
      case .withdrawn(let child, .withdrawal(.handle(let handle, let app))):
        withdrawals[child, default: [:]][handle.canonical, default: []]
          .append((app, statement(event, isKnown: false)))
      case .asked(_, .sealed), .answeredInPerson(_, .sealed, _, _), .contactChanged(_, .sealed),
        .withdrawn(_, .sealed):
        isSealed = true
      default: break
      }
    }
  }

  /// In a log without signatures, each author knew all earlier events.
  private func statement(_ event: Event, isKnown: Bool) -> Statement {
    let known = event.signature?.known.audience.seq ?? .max
    return Statement(
      seq: event.seq, known: min(known, event.seq - 1), id: event.command, isKnown: isKnown)
  }

  private mutating func approve(
    _ question: Question, _ header: QuestionHeader, _ decision: Decision, _ event: Event
  ) {
    guard decision.choice.answer == .approval else { return }
    for handle in question.topic.handles.map(\.canonical) {
      let scope = Scope(child: header.child, app: handle.kind.isOfOneApp ? header.app : nil)
      approvals[scope, default: [:]][handle, default: []]
        .append(statement(event, isKnown: true))
    }
  }

  /// Whether the app's device is of a child that is in the family at the end.
  func isMember(_ app: AppAddress) -> Bool { roster.owner(of: app.device.device)?.role == .child }

  private func scopes(_ app: AppAddress) -> [Scope] {
    guard let child = owners[app.device.device] else { return [] }
    return [Scope(child: child), Scope(child: child, app: app.app)]
  }

  func wasEverKnown(_ handle: Handle, in app: AppAddress) -> Bool {
    scopes(app).contains { scope in
      approvals[scope]?[handle.canonical] != nil
        || contacts[scope.child]?[handle.canonical]?.contains(where: \.isKnown) ?? false
    }
  }

  func known(in app: AppAddress) -> Set<Handle> {
    var known: Set<Handle> = []
    for scope in scopes(app) {
      for (handle, statements) in approvals[scope] ?? [:] {
        let withdrawn = (withdrawals[scope.child]?[handle] ?? [])
          .filter { scope.app == nil || $0.app == nil || $0.app == scope.app }
        if isKnown(statements + withdrawn.map(\.1)) { known.insert(handle) }
      }
      for (handle, statements) in contacts[scope.child] ?? [:] {
        let withdrawn = withdrawals[scope.child]?[handle] ?? []
        if isKnown(statements + withdrawn.map(\.1)) { known.insert(handle) }
      }
    }
    return known
  }

  private func isKnown(_ statements: [Statement]) -> Bool {
    let replaced = statements.map(\.known).max() ?? 0
    return statements.filter { $0.seq > replaced }
      .max { ($0.id, $0.seq) < ($1.id, $1.seq) }?.isKnown ?? false
  }
}
