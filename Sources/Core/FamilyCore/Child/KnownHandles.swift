public import FamilyModel

/// The newest statement of one kind about a handle.
public struct KnownStatement: Hashable, Sendable {
  /// The kind of a statement.
  public enum Kind: UInt8, Sendable {
    /// The consent to the app. Such a statement has no handle.
    case consent = 0
    /// The child's contacts.
    case contact = 1
    /// An approval for all apps.
    case approved = 2
    /// An approval for one app.
    case approvedIn = 3
    /// A withdrawal from all apps.
    case withdrawn = 4
  }
  /// The kind of the statement.
  public var kind: Kind
  /// The handle in canonical form.
  public var handle: Handle
  /// The id of the statement's command. Ids grow with time, so the larger one is the later
  /// statement.
  public var stamp: ID128
  /// Whether the statement makes the handle known.
  public var isKnown: Bool
  /// Creates a statement about a handle in canonical form.
  public init(kind: Kind, handle: Handle, stamp: ID128, isKnown: Bool) {
    self.kind = kind
    self.handle = handle
    self.stamp = stamp
    self.isKnown = isKnown
  }
}

/// The handles that are known for a child: approved by a guardian, or among the child's contacts.
///
/// Handles are compared in canonical form. A custom user name is known only in the app in which it
/// was approved; phone numbers and e-mail addresses are known in all apps.
public struct KnownHandles: Sendable {
  /// Why a handle is known.
  public enum Reason: Hashable, Sendable {
    /// The handle is among the child's contacts.
    case contact
    /// A guardian approved the handle: a custom user name for this app, any other handle for all
    /// apps (`nil`).
    case approved(in: AppID?)
  }

  /// A change of a handle. Of two changes the one with the later stamp counts, in any order of
  /// arrival.
  private struct Change {
    var stamp: ID128
    var isKnown: Bool
  }

  private var contactChanges: [Handle: Change] = [:]
  private var approvedChanges: [Handle: Change] = [:]
  private var approvedInChanges: [AppID: [Handle: Change]] = [:]
  /// Withdrawals from all apps. A withdrawal also overrides approvals that are older but arrive
  /// later.
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

  /// Whether the handle is among the child's contacts.
  public func isContact(_ handle: Handle) -> Bool {
    contactChanges[handle.canonical]?.isKnown ?? false
  }

  /// The statements that decide whether the handle is known in the app.
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

  /// Restores a statement that `statements` returned.
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

  /// All handles that are known in the app, in order.
  public func all(in app: AppID) -> [Handle] {
    contacts.union(approved).union(Self.known(approvedInChanges[app] ?? [:])).sorted()
  }

  /// Each known handle with each of its reasons, in order of the handles.
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

  /// Withdraws a handle from one app, or from all apps. A withdrawal also removes the contact.
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

  /// Applies an event that changes the known handles.
  ///
  /// - Parameter question: Returns the question of a decision, or `nil` if it is unknown.
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
