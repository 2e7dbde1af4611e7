import FamilyModel

/// Checks that an app knows only approved handles and contacts that it has named, and after
/// convergence exactly those that are not withdrawn. A custom name is known only in the app that
/// asked about it.
public struct KnownHandlesRight: Checker {
  public let name = "known handles"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var models: [FamilyID: KnownModel] = [:]
    for family in log.families.keys.sorted() {
      let model = KnownModel(log.events(family))
      guard !model.isSealed else { return .unknown("the store's contents are sealed") }
      models[family] = model
    }
    var last: [AppAddress: (index: Int, handles: Set<Handle>, named: Set<Handle>)] = [:]
    var requested: [AppAddress: Set<Handle>] = [:]
    var hasConverged = false
    for (index, fact) in history.facts {
      if case .converged = fact { hasConverged = true }
      if case .names(let app, let handles) = fact { requested[app, default: []].formUnion(handles) }
      guard case .knows(let app, let handles, let confirmed) = fact else { continue }
      let named = Set(confirmed)
      last[app] = (index, Set(handles), named)
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
      guard let model = models[app.device.family], model.isMember(app) else { continue }
      let (index, handles, named) = last[app]!
      let right = model.known(in: app).filter(named.contains)
      if !handles.isSubset(of: right) {
        return .violated("an app still knows a withdrawn handle", at: index)
      }
      if !right.isSubset(of: handles) {
        return .violated("an app does not know an approved handle", at: index)
      }
    }
    return .ok
  }
}

/// The known handles, rebuilt from the log without the product's code.
struct KnownModel {
  private struct Scope: Hashable {
    var child: PersonID
    /// `nil` for all apps.
    var app: AppID?
  }
  private var contacts: [PersonID: Set<Handle>] = [:]
  private var approved: [Scope: Set<Handle>] = [:]
  private var ever: [Scope: Set<Handle>] = [:]
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
      default: break
      }
    }
    // Of two signed changes of the same handle, the later command wins. Command ids ascend with
    // time.
    let isSigned = events.contains { $0.signature != nil }
    for event in isSigned ? events.sorted(by: { $0.command < $1.command }) : events {
      switch event.body {
      case .decided(let decision):
        guard let (header, question) = questions[decision.question] else { continue }
        approve(question, header, decision)
      case .answeredInPerson(let header, .question(let question), let decision, _):
        approve(question, header, decision)
      case .contactChanged(let child, .contact(let handle, let known)):
        if known {
          contacts[child, default: []].insert(handle.canonical)
          ever[Scope(child: child), default: []].insert(handle.canonical)
        } else {
          contacts[child, default: []].remove(handle.canonical)
        }
      case .withdrawn(let child, .withdrawal(.handle(let handle, let app))):
        contacts[child, default: []].remove(handle.canonical)
        for scope in approved.keys.filter({ $0.child == child })
        where scope.app == nil || app == nil || scope.app == app {
          approved[scope]?.remove(handle.canonical)
        }
      case .asked(_, .sealed), .answeredInPerson(_, .sealed, _, _), .contactChanged(_, .sealed),
        .withdrawn(_, .sealed):
        isSealed = true
      default: break
      }
    }
  }

  private mutating func approve(
    _ question: Question, _ header: QuestionHeader, _ decision: Decision
  ) {
    guard decision.choice.answer == .approval else { return }
    for handle in question.topic.handles.map(\.canonical) {
      let scope = Scope(child: header.child, app: handle.kind == .custom ? header.app : nil)
      approved[scope, default: []].insert(handle)
      ever[scope, default: []].insert(handle)
    }
  }

  /// Whether the app's device is of a child that is in the family at the end.
  func isMember(_ app: AppAddress) -> Bool { roster.owner(of: app.device.device)?.role == .child }

  private func scopes(_ app: AppAddress) -> [Scope] {
    guard let child = owners[app.device.device] else { return [] }
    return [Scope(child: child), Scope(child: child, app: app.app)]
  }

  func wasEverKnown(_ handle: Handle, in app: AppAddress) -> Bool {
    scopes(app).contains { ever[$0]?.contains(handle.canonical) ?? false }
  }

  func known(in app: AppAddress) -> Set<Handle> {
    scopes(app).reduce(into: owners[app.device.device].flatMap { contacts[$0] } ?? []) {
      $0.formUnion(approved[$1] ?? [])
    }
  }
}
