public import FamilyModel

/// The handles that are known for a child (K1): approved by a guardian, or on the list of contacts.
///
/// Handles are compared in canonical form. Custom names that were approved in one app are known in that
/// app only; numbers and addresses are known everywhere (K5).
public struct KnownHandles: Sendable {
  /// Why a handle is known.
  public enum Reason: Hashable, Sendable {
    /// It is on the child's list of contacts.
    case contact
    /// A guardian approved it: a custom name in this app, anything else everywhere (`nil`).
    case approved(in: AppID?)
  }

  private var contacts: Set<Handle> = []
  private var approved: Set<Handle> = []
  private var approvedIn: [AppID: Set<Handle>] = [:]

  /// Whether the handle is known in the app.
  public func contains(_ handle: Handle, in app: AppID) -> Bool {
    let handle = handle.canonical
    return contacts.contains(handle) || approved.contains(handle)
      || approvedIn[app, default: []].contains(handle)
  }

  /// All that are known in the app, in order.
  public func all(in app: AppID) -> [Handle] {
    contacts.union(approved).union(approvedIn[app, default: []]).sorted()
  }

  /// Each handle with each reason for which it is known, in order of the handles.
  public var reasons: [(handle: Handle, reason: Reason)] {
    let handles = approvedIn.keys.sorted().reduce(into: contacts.union(approved)) {
      $0.formUnion(approvedIn[$1]!)
    }
    return handles.sorted().flatMap { handle in
      var reasons: [Reason] = []
      if contacts.contains(handle) { reasons.append(.contact) }
      if approved.contains(handle) { reasons.append(.approved(in: nil)) }
      for app in approvedIn.keys.sorted() where approvedIn[app]!.contains(handle) {
        reasons.append(.approved(in: app))
      }
      return reasons.map { (handle, $0) }
    }
  }

  mutating func approve(_ handles: [Handle], in app: AppID) {
    for handle in handles.map(\.canonical) {
      if handle.kind == .custom {
        approvedIn[app, default: []].insert(handle)
      } else {
        approved.insert(handle)
      }
    }
  }

  /// A handle that is withdrawn is not known by any way that the withdrawal covers.
  mutating func withdraw(_ handle: Handle, in app: AppID?) {
    let handle = handle.canonical
    contacts.remove(handle)
    approved.remove(handle)
    for known in approvedIn.keys where app == nil || app == known {
      approvedIn[known]?.remove(handle)
    }
  }

  /// What an event means for the known handles.
  ///
  /// - Parameter question: The question that a decision is about, where it is known.
  mutating func apply(_ event: Event, question: (QuestionID) -> QuestionState?) {
    switch event.body {
    case .contactChanged(_, .contact(let handle, let isKnown)): setContact(handle, known: isKnown)
    case .withdrawn(_, .withdrawal(.handle(let handle, let app))): withdraw(handle, in: app)
    case .decided(let decision) where decision.choice.answer == .approval:
      guard let state = question(decision.question) else { return }
      approve(state.question?.topic.handles ?? [], in: state.header.app)
    case .answeredInPerson(let header, .question(let question), let decision, _)
    where decision.choice.answer == .approval:
      approve(question.topic.handles, in: header.app)
    default: break
    }
  }

  mutating func setContact(_ handle: Handle, known: Bool) {
    if known { contacts.insert(handle.canonical) } else { contacts.remove(handle.canonical) }
  }
}
