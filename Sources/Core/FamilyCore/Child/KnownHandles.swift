public import FamilyModel

/// The handles that are known for a child: approved by a guardian, or among the child's contacts.
///
/// Handles are compared in canonical form. A custom user name is known only in the app in which it
/// was approved; phone numbers and e-mail addresses are known in all apps.
///
/// An approval with an end makes a handle known until the latest time reaches the end. The latest
/// time never decreases. Such an approval neither shortens nor lengthens one without an end; of two
/// with an end the later decision counts.
public struct KnownHandles: Sendable {
  /// Why a handle is known.
  public enum Reason: Hashable, Sendable {
    /// The handle is among the child's contacts.
    case contact
    /// A guardian approved the handle: a custom user name for this app, any other handle for all
    /// apps (`nil`).
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

  /// A change of a handle. Of two changes the one with the later stamp counts, in any order of
  /// arrival.
  private struct Change {
    var stamp: ID128
    var isKnown: Bool
    var until: Instant?
  }

  /// The latest time, by which approvals end.
  public private(set) var latest = Instant(milliseconds: .min)
  private var contactChanges: [Handle: Change] = [:]
  private var approvedChanges: [Handle: Change] = [:]
  private var approvedInChanges: [AppID: [Handle: Change]] = [:]
  /// Approvals with an end, for all apps. A withdrawal has no entry here: the later one of
  /// `approvedChanges` or `withdrawnEverywhere` overrides the approval.
  private var limitedChanges: [Handle: Change] = [:]
  private var limitedInChanges: [AppID: [Handle: Change]] = [:]
  /// Withdrawals from all apps. A withdrawal also overrides approvals that are older but arrive
  /// later.
  private var withdrawnEverywhere: [Handle: ID128] = [:]

  private var contacts: Set<Handle> { Self.known(contactChanges) }
  private var approved: Set<Handle> { Self.known(approvedChanges) }

  private static func known(_ changes: [Handle: Change]) -> Set<Handle> {
    Set(changes.filter { $0.value.isKnown }.map(\.key))
  }

  private static func set(
    _ changes: inout [Handle: Change], _ handle: Handle, _ isKnown: Bool, _ stamp: ID128,
    until: Instant? = nil
  ) {
    if let old = changes[handle], old.stamp > stamp { return }
    changes[handle] = Change(stamp: stamp, isKnown: isKnown, until: until)
  }

  /// The end of the handle's approval with an end for all apps (`nil`) or one app, unless the
  /// approval was withdrawn. The end may have passed.
  private func lastLimit(of handle: Handle, in app: AppID?) -> Instant? {
    let limited = app.map { limitedInChanges[$0]?[handle] } ?? limitedChanges[handle]
    guard let limited else { return nil }
    let other = app.map { approvedInChanges[$0]?[handle] } ?? approvedChanges[handle]
    if let other, !other.isKnown, other.stamp > limited.stamp { return nil }
    if let withdrawn = withdrawnEverywhere[handle], withdrawn > limited.stamp { return nil }
    return limited.until
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
      changes.compactMap { handle, change in change.until.map { (handle, $0) } }
    }
  }

  /// The earliest end after the given moment; `nil`: none.
  func nextEnd(after moment: Instant) -> Instant? {
    if limitedChanges.isEmpty, limitedInChanges.isEmpty { return nil }
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
    func statement(_ kind: KnownStatement.Kind, _ change: Change?) -> KnownStatement? {
      change.map {
        KnownStatement(
          kind: kind, handle: handle, stamp: $0.stamp, isKnown: $0.isKnown, until: $0.until)
      }
    }
    let withdrawn = withdrawnEverywhere[handle].map { Change(stamp: $0, isKnown: false) }
    return [
      statement(.contact, contactChanges[handle]), statement(.approved, approvedChanges[handle]),
      statement(.approvedIn, approvedInChanges[app]?[handle]), statement(.withdrawn, withdrawn),
      statement(.limited, limitedChanges[handle]),
      statement(.limitedIn, limitedInChanges[app]?[handle]),
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
    case .limited: Self.set(&limitedChanges, handle, isKnown, stamp, until: statement.until)
    case .limitedIn:
      Self.set(
        &limitedInChanges[app, default: [:]], handle, isKnown, stamp, until: statement.until)
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
    _ handles: [Handle], in app: AppID, _ stamp: ID128, until: Instant? = nil
  ) {
    if let until {
      for handle in handles.map(\.canonical) {
        if handle.kind == .custom {
          Self.set(&limitedInChanges[app, default: [:]], handle, true, stamp, until: until)
        } else {
          Self.set(&limitedChanges, handle, true, stamp, until: until)
        }
      }
      return
    }
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
      question.topic.handles, in: app, event.stamp,
      until: end?.moment(decidedAt: event.signedAt))
  }

  mutating func setContact(_ handle: Handle, known: Bool, _ stamp: ID128) {
    Self.set(&contactChanges, handle.canonical, known, stamp)
  }
}
