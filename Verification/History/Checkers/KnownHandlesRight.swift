import FamilyModel

/// No handle is known without an approval or a contact that was not withdrawn; and when the system has come
/// to rest, every app knows exactly those (K1, K3, K5).
public struct KnownHandlesRight: Checker {
  public let name = "known handles"
  /// A checker.
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
    var last: [AppAddress: (index: Int, handles: Set<Handle>)] = [:]
    var hasConverged = false
    for (index, fact) in history.facts {
      if case .converged = fact { hasConverged = true }
      guard case .knows(let app, let handles) = fact else { continue }
      last[app] = (index, Set(handles))
      if handles.contains(where: {
        !(models[app.device.family]?.wasEverKnown($0, in: app) ?? false)
      }) {
        return .violated("a handle is known that nobody approved", at: index)
      }
    }
    guard hasConverged else { return .ok }
    for app in last.keys.sorted() {
      guard let model = models[app.device.family], model.isMember(app) else { continue }
      let (index, handles) = last[app]!
      let right = model.known(in: app)
      if !handles.isSubset(of: right) {
        return .violated("a handle stays known that was withdrawn", at: index)
      }
      if !right.isSubset(of: handles) {
        return .violated("a handle that was approved is not known", at: index)
      }
    }
    return .ok
  }
}

/// The known handles as the log has them, told once more and without the product's code.
struct KnownModel {
  private struct Place: Hashable {
    var child: PersonID
    /// `nil`: known everywhere.
    var app: AppID?
  }
  private var contacts: [PersonID: Set<Handle>] = [:]
  private var approved: [Place: Set<Handle>] = [:]
  private var ever: [Place: Set<Handle>] = [:]
  private var roster = Roster()
  private var owners: [DeviceID: PersonID] = [:]
  /// Whether there was a content that cannot be opened here.
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
    // Of two signed changes of one thing the one that was made later counts.
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
          ever[Place(child: child), default: []].insert(handle.canonical)
        } else {
          contacts[child, default: []].remove(handle.canonical)
        }
      case .withdrawn(let child, .withdrawal(.handle(let handle, let app))):
        contacts[child, default: []].remove(handle.canonical)
        for place in approved.keys.filter({ $0.child == child })
        where place.app == nil || app == nil || place.app == app {
          approved[place]?.remove(handle.canonical)
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
      let place = Place(child: header.child, app: handle.kind == .custom ? header.app : nil)
      approved[place, default: []].insert(handle)
      ever[place, default: []].insert(handle)
    }
  }

  /// Whether the app's device is of a child that is in the family at the end.
  func isMember(_ app: AppAddress) -> Bool { roster.owner(of: app.device.device)?.role == .child }

  private func places(_ app: AppAddress) -> [Place] {
    guard let child = owners[app.device.device] else { return [] }
    return [Place(child: child), Place(child: child, app: app.app)]
  }

  func wasEverKnown(_ handle: Handle, in app: AppAddress) -> Bool {
    places(app).contains { ever[$0]?.contains(handle.canonical) ?? false }
  }

  func known(in app: AppAddress) -> Set<Handle> {
    places(app).reduce(into: owners[app.device.device].flatMap { contacts[$0] } ?? []) {
      $0.formUnion(approved[$1] ?? [])
    }
  }
}
