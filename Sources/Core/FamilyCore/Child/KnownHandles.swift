public import FamilyModel

/// The handles that are known for a child: approved by a guardian, or among the child's contacts.
///
/// Handles are compared in canonical form. A custom user name and an authorization are known only in
/// the app in which they were approved; other handles are known in all apps.
///
/// An approval with an end makes a handle known until the latest time reaches the end. The latest
/// time never decreases. Such an approval neither shortens nor lengthens one without an end; of two
/// with an end the later decision counts.
public struct KnownHandles: Sendable {
  /// Why a handle is known.
  public enum Reason: Hashable, Sendable {
    /// The handle is among the child's contacts.
    case contact
    /// A guardian approved the handle for this app, or for all apps (`nil`).
    case approved(in: AppID?)
    /// A guardian approved the handle as `approved` states, and the approval ends at this moment.
    case approvedUntil(Instant, in: AppID?)

    /// The only app in which the handle is known for this reason; `nil`: all apps.
    public var app: AppID? {
      switch self {
      case .contact: nil
      case .approved(let app), .approvedUntil(_, in: let app): app
      }
    }

    /// The end of the approval; `nil`: no end.
    public var until: Instant? {
      if case .approvedUntil(let until, _) = self { until } else { nil }
    }
  }

  /// The statements of one kind about each handle.
  typealias Changes = [Handle: Statements<KnownStatement.Change>]

  /// The latest time, by which approvals end.
  public private(set) var latest = Instant(milliseconds: .min)
  var contactChanges: Changes = [:]
  var approvedChanges: Changes = [:]
  var approvedInChanges: [AppID: Changes] = [:]
  /// Approvals with an end for all apps, and withdrawals of the handles.
  var limitedChanges: Changes = [:]
  var limitedInChanges: [AppID: Changes] = [:]
  /// Whether there was an approval with an end.
  var hasLimits = false
  /// Withdrawals from all apps. They also count for apps that have no approval yet.
  var withdrawnEverywhere: Changes = [:]

  private var contacts: Set<Handle> { Self.known(contactChanges) }
  private var approved: Set<Handle> { Self.known(approvedChanges) }

  private static func known(_ changes: Changes) -> Set<Handle> {
    Set(changes.filter { $0.value.isKnown }.map(\.key))
  }

  private static func set(
    _ changes: inout Changes, _ handle: Handle, _ isKnown: Bool, _ order: StatementOrder,
    until: Instant? = nil, first withdrawals: Statements<KnownStatement.Change>? = nil
  ) {
    changes[handle, default: withdrawals ?? Statements()]
      .add(KnownStatement.Change(isKnown: isKnown, until: until), order)
  }

  /// Adds a statement for one app, after the withdrawals from all apps.
  private mutating func set(
    _ place: WritableKeyPath<KnownHandles, [AppID: Changes]>, _ app: AppID, _ handle: Handle,
    _ isKnown: Bool, _ order: StatementOrder, until: Instant? = nil
  ) {
    let withdrawals = withdrawnEverywhere[handle]
    Self.set(
      &self[keyPath: place][app, default: [:]], handle, isKnown, order, until: until,
      first: withdrawals)
  }

  /// The end of the handle's approval with an end for all apps (`nil`) or one app, unless the
  /// approval was withdrawn. The end may have passed.
  private func lastLimit(of handle: Handle, in app: AppID?) -> Instant? {
    let limited = app.map { limitedInChanges[$0]?[handle] } ?? limitedChanges[handle]
    return limited?.current?.value.until
  }

  /// As `lastLimit`, unless the approval has ended.
  private func limit(of handle: Handle, in app: AppID?) -> Instant? {
    lastLimit(of: handle, in: app).flatMap { $0 > latest ? $0 : nil }
  }

  /// Whether the handle is known in the app without an end.
  private func isUnlimited(_ handle: Handle, in app: AppID) -> Bool {
    contactChanges[handle]?.isKnown ?? false || approvedChanges[handle]?.isKnown ?? false
      || approvedInChanges[app]?[handle]?.isKnown ?? false
  }

  /// The end by which the handle stops to be known in the app; `nil` for a handle that is unknown or
  /// known without an end.
  public func end(of handle: Handle, in app: AppID) -> Instant? {
    let handle = handle.canonical
    guard !isUnlimited(handle, in: app) else { return nil }
    return [limit(of: handle, in: nil), limit(of: handle, in: app)].compactMap { $0 }.max()
  }

  /// The last ends of the handles that only approvals with an end make known in the app, also of
  /// those that have ended.
  func ends(in app: AppID) -> [Handle: Instant] {
    var ends: [Handle: Instant] = [:]
    for handle in limitedHandles(in: app) where !isUnlimited(handle, in: app) {
      ends[handle] = [lastLimit(of: handle, in: nil), lastLimit(of: handle, in: app)]
        .compactMap { $0 }.max()
    }
    return ends
  }

  private func limitedHandles(in app: AppID) -> Set<Handle> {
    Set(limitedChanges.keys).union(limitedInChanges[app].map { Array($0.keys) } ?? [])
  }

  private var limits: [(handle: Handle, until: Instant)] {
    ([limitedChanges] + limitedInChanges.values).flatMap { changes in
      changes.compactMap { handle, changes in
        changes.current?.value.until.map { (handle, $0) }
      }
    }
  }

  /// The earliest end after the given moment; `nil`: none.
  func nextEnd(after moment: Instant) -> Instant? {
    guard hasLimits else { return nil }
    return limits.map(\.until).filter { $0 > moment }.min()
  }

  /// Advances the latest time; an earlier one changes nothing.
  ///
  /// - Returns: The handles with an approval that ends by the new time and not before, in order.
  @discardableResult
  mutating func advance(to time: Instant) -> [Handle] {
    guard time > latest else { return [] }
    defer { latest = time }
    guard nextEnd(after: latest).map({ $0 <= time }) ?? false else { return [] }
    return Set(limits.filter { $0.until > latest && $0.until <= time }.map(\.handle)).sorted()
  }

  /// The handles as known at `now`, or at the latest time if that is later.
  public func judged(at now: Instant) -> KnownHandles {
    var copy = self
    copy.advance(to: now)
    return copy
  }

  /// Whether the handle is known in the app.
  public func contains(_ handle: Handle, in app: AppID) -> Bool {
    let handle = handle.canonical
    return isUnlimited(handle, in: app) || limit(of: handle, in: nil) != nil
      || limit(of: handle, in: app) != nil
  }

  /// Whether the handle is among the child's contacts.
  public func isContact(_ handle: Handle) -> Bool {
    contactChanges[handle.canonical]?.isKnown ?? false
  }

  /// The statements that decide whether the handle is known in the app.
  func statements(of handle: Handle, in app: AppID) -> [KnownStatement] {
    let handle = handle.canonical
    func statement(
      _ kind: KnownStatement.Kind, _ changes: Statements<KnownStatement.Change>?
    ) -> KnownStatement? {
      changes.map { KnownStatement(kind: kind, handle: handle, changes: $0) }
    }
    return [
      statement(.contact, contactChanges[handle]), statement(.approved, approvedChanges[handle]),
      statement(.approvedIn, approvedInChanges[app]?[handle]),
      statement(.withdrawn, withdrawnEverywhere[handle]),
      statement(.limited, limitedChanges[handle]),
      statement(.limitedIn, limitedInChanges[app]?[handle]),
    ].compactMap { $0 }
  }

  /// Restores the statements that `statements` returned.
  mutating func restore(_ statement: KnownStatement, in app: AppID) {
    let (handle, changes) = (statement.handle, statement.changes)
    if changes.all.contains(where: { $0.value.until != nil }) { hasLimits = true }
    switch statement.kind {
    case .consent: break
    case .contact: contactChanges[handle] = changes
    case .approved: approvedChanges[handle] = changes
    case .approvedIn: approvedInChanges[app, default: [:]][handle] = changes
    case .withdrawn: withdrawnEverywhere[handle] = changes
    case .limited: limitedChanges[handle] = changes
    case .limitedIn: limitedInChanges[app, default: [:]][handle] = changes
    }
  }

  /// All handles that are known in the app, in order.
  public func all(in app: AppID) -> [Handle] {
    let limited = limitedHandles(in: app).filter { end(of: $0, in: app) != nil }
    return contacts.union(approved).union(Self.known(approvedInChanges[app] ?? [:]))
      .union(limited).sorted()
  }

  /// Each known handle with each of its reasons, in order of the handles.
  public var reasons: [(handle: Handle, reason: Reason)] {
    let (contacts, approved) = (contacts, approved)
    let apps = approvedInChanges.keys.sorted().map { ($0, Self.known(approvedInChanges[$0]!)) }
    let ends = limits.map(\.handle)
    let handles = apps.reduce(into: contacts.union(approved).union(ends)) { $0.formUnion($1.1) }
    return handles.sorted().flatMap { handle in
      var reasons: [Reason] = []
      if contacts.contains(handle) { reasons.append(.contact) }
      if approved.contains(handle) { reasons.append(.approved(in: nil)) }
      for (app, known) in apps where known.contains(handle) {
        reasons.append(.approved(in: app))
      }
      for app in [nil] + limitedInChanges.keys.sorted().map(Optional.some) {
        if let until = limit(of: handle, in: app) { reasons.append(.approvedUntil(until, in: app)) }
      }
      return reasons.map { (handle, $0) }
    }
  }

  mutating func approve(
    _ handles: [Handle], in app: AppID, _ order: StatementOrder, until: Instant? = nil
  ) {
    hasLimits = hasLimits || until != nil
    for handle in handles.map(\.canonical) {
      switch (handle.kind.isOfOneApp, until) {
      case (true, nil): set(\.approvedInChanges, app, handle, true, order)
      case (true, let until): set(\.limitedInChanges, app, handle, true, order, until: until)
      case (false, nil): Self.set(&approvedChanges, handle, true, order)
      case (false, let until): Self.set(&limitedChanges, handle, true, order, until: until)
      }
    }
  }

  /// Withdraws a handle from one app, or from all apps. A withdrawal also removes the contact.
  mutating func withdraw(_ handle: Handle, in app: AppID?, _ order: StatementOrder) {
    let handle = handle.canonical
    Self.set(&contactChanges, handle, false, order)
    Self.set(&approvedChanges, handle, false, order)
    Self.set(&limitedChanges, handle, false, order)
    let apps = app.map { [$0] } ?? Set(approvedInChanges.keys).union(limitedInChanges.keys).sorted()
    for app in apps {
      set(\.approvedInChanges, app, handle, false, order)
      set(\.limitedInChanges, app, handle, false, order)
    }
    if app == nil { Self.set(&withdrawnEverywhere, handle, false, order) }
  }

  /// Applies an event that changes the known handles.
  ///
  /// - Parameter question: Returns the question of a decision, or `nil` if it is unknown.
  mutating func apply(_ event: Event, question: (QuestionID) -> QuestionState?) {
    switch event.body {
    case .contactChanged(_, .contact(let handle, let isKnown)):
      setContact(handle, known: isKnown, event.order)
    case .withdrawn(_, .withdrawal(.handle(let handle, let app))):
      withdraw(handle, in: app, event.order)
    case .decided(let decision) where decision.choice.answer == .approval:
      guard let state = question(decision.question) else { return }
      approve(state.question, decision, in: state.header.app, event)
    case .answeredInPerson(let header, .question(let question), let decision, _)
    where decision.choice.answer == .approval:
      approve(question, decision, in: header.app, event)
    default: break
    }
  }

  private mutating func approve(
    _ question: Question?, _ decision: Decision, in app: AppID, _ event: Event
  ) {
    guard let question else { return }
    let end = question.choices.first { $0.id == decision.choice.id }?.end
    approve(
      question.topic.handles, in: app, event.order,
      until: end?.moment(decidedAt: event.signedAt))
  }

  mutating func setContact(_ handle: Handle, known: Bool, _ order: StatementOrder) {
    Self.set(&contactChanges, handle.canonical, known, order)
  }
}

extension Statements<KnownStatement.Change> {
  /// Whether the current statement makes the handle known.
  fileprivate var isKnown: Bool { current?.value.isKnown ?? false }
}
