public import FamilyModel

/// One thing that was said about a handle, and is not outdone by anything later.
public struct KnownStatement: Hashable, Sendable {
  /// What it is about.
  public enum Kind: UInt8, Sendable {
    /// The consent to the app: about no handle.
    case consent = 0
    /// The list of contacts.
    case contact = 1
    /// An approval that counts everywhere.
    case approved = 2
    /// An approval in the app.
    case approvedIn = 3
    /// A withdrawal that counts everywhere.
    case withdrawn = 4
  }
  /// What it is about.
  public var kind: Kind
  /// In canonical form.
  public var handle: Handle
  /// When it was said: the command's id.
  public var stamp: ID128
  /// Whether it makes the handle known.
  public var isKnown: Bool
  /// A statement of these parts.
  public init(kind: Kind, handle: Handle, stamp: ID128, isKnown: Bool) {
    self.kind = kind
    self.handle = handle
    self.stamp = stamp
    self.isKnown = isKnown
  }
}

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

  /// A change of a handle: when, and whether it makes it known. Of two the later counts, in whatever order
  /// they come.
  private struct Change {
    var stamp: ID128
    var isKnown: Bool
  }

  private var contactChanges: [Handle: Change] = [:]
  private var approvedChanges: [Handle: Change] = [:]
  private var approvedInChanges: [AppID: [Handle: Change]] = [:]
  /// Withdrawals from all apps: they also count for apps in which nothing was approved yet.
  private var withdrawnEverywhere: [Handle: ID128] = [:]

  private var contacts: Set<Handle> { Self.known(contactChanges) }
  private var approved: Set<Handle> { Self.known(approvedChanges) }

  private static func known(_ changes: [Handle: Change]) -> Set<Handle> {
    Set(changes.filter { $0.value.isKnown }.map(\.key))
  }

  private static func set(
    _ changes: inout [Handle: Change], _ handle: Handle, _ isKnown: Bool, _ stamp: ID128
  ) {
    if let old = changes[handle], old.stamp > stamp { return }
    changes[handle] = Change(stamp: stamp, isKnown: isKnown)
  }

  /// Whether the handle is known in the app.
  public func contains(_ handle: Handle, in app: AppID) -> Bool {
    let handle = handle.canonical
    return contactChanges[handle]?.isKnown ?? false || approvedChanges[handle]?.isKnown ?? false
      || approvedInChanges[app]?[handle]?.isKnown ?? false
  }

  /// What makes the handle known in the app, or not.
  func statements(of handle: Handle, in app: AppID) -> [KnownStatement] {
    let handle = handle.canonical
    func statement(_ kind: KnownStatement.Kind, _ change: Change?) -> KnownStatement? {
      change.map {
        KnownStatement(kind: kind, handle: handle, stamp: $0.stamp, isKnown: $0.isKnown)
      }
    }
    let withdrawn = withdrawnEverywhere[handle].map { Change(stamp: $0, isKnown: false) }
    return [
      statement(.contact, contactChanges[handle]), statement(.approved, approvedChanges[handle]),
      statement(.approvedIn, approvedInChanges[app]?[handle]), statement(.withdrawn, withdrawn),
    ].compactMap { $0 }
  }

  /// Takes what `statements` gave.
  mutating func restore(_ statement: KnownStatement, in app: AppID) {
    let (handle, isKnown, stamp) = (statement.handle, statement.isKnown, statement.stamp)
    switch statement.kind {
    case .consent: break
    case .contact: Self.set(&contactChanges, handle, isKnown, stamp)
    case .approved: Self.set(&approvedChanges, handle, isKnown, stamp)
    case .approvedIn: Self.set(&approvedInChanges[app, default: [:]], handle, isKnown, stamp)
    case .withdrawn: withdrawnEverywhere[handle] = stamp
    }
  }

  /// All that are known in the app, in order.
  public func all(in app: AppID) -> [Handle] {
    contacts.union(approved).union(Self.known(approvedInChanges[app] ?? [:])).sorted()
  }

  /// Each handle with each reason for which it is known, in order of the handles.
  public var reasons: [(handle: Handle, reason: Reason)] {
    let (contacts, approved) = (contacts, approved)
    let apps = approvedInChanges.keys.sorted().map { ($0, Self.known(approvedInChanges[$0]!)) }
    let handles = apps.reduce(into: contacts.union(approved)) { $0.formUnion($1.1) }
    return handles.sorted().flatMap { handle in
      var reasons: [Reason] = []
      if contacts.contains(handle) { reasons.append(.contact) }
      if approved.contains(handle) { reasons.append(.approved(in: nil)) }
      for (app, known) in apps where known.contains(handle) {
        reasons.append(.approved(in: app))
      }
      return reasons.map { (handle, $0) }
    }
  }

  mutating func approve(_ handles: [Handle], in app: AppID, _ stamp: ID128) {
    for handle in handles.map(\.canonical) {
      let isKnown = withdrawnEverywhere[handle].map { $0 < stamp } ?? true
      if handle.kind == .custom {
        Self.set(&approvedInChanges[app, default: [:]], handle, isKnown, stamp)
      } else {
        Self.set(&approvedChanges, handle, isKnown, stamp)
      }
    }
  }

  /// A handle that is withdrawn is not known by any way that the withdrawal covers.
  mutating func withdraw(_ handle: Handle, in app: AppID?, _ stamp: ID128) {
    let handle = handle.canonical
    Self.set(&contactChanges, handle, false, stamp)
    Self.set(&approvedChanges, handle, false, stamp)
    if let app {
      Self.set(&approvedInChanges[app, default: [:]], handle, false, stamp)
    } else {
      withdrawnEverywhere[handle] = max(withdrawnEverywhere[handle] ?? stamp, stamp)
      for known in approvedInChanges.keys.sorted() {
        Self.set(&approvedInChanges[known]!, handle, false, stamp)
      }
    }
  }

  /// What an event means for the known handles.
  ///
  /// - Parameter question: The question that a decision is about, where it is known.
  mutating func apply(_ event: Event, question: (QuestionID) -> QuestionState?) {
    switch event.body {
    case .contactChanged(_, .contact(let handle, let isKnown)):
      setContact(handle, known: isKnown, event.stamp)
    case .withdrawn(_, .withdrawal(.handle(let handle, let app))):
      withdraw(handle, in: app, event.stamp)
    case .decided(let decision) where decision.choice.answer == .approval:
      guard let state = question(decision.question) else { return }
      approve(state.question?.topic.handles ?? [], in: state.header.app, event.stamp)
    case .answeredInPerson(let header, .question(let question), let decision, _)
    where decision.choice.answer == .approval:
      approve(question.topic.handles, in: header.app, event.stamp)
    default: break
    }
  }

  mutating func setContact(_ handle: Handle, known: Bool, _ stamp: ID128) {
    Self.set(&contactChanges, handle.canonical, known, stamp)
  }
}
