public import FamilyModel

/// The root of an app's trust: the family, the child, and the organizer's key.
///
/// The device's launcher passes them with the app's credential. An app pins those of its first
/// launch and ignores later ones: trust on first use.
public struct AppSecurity: Hashable, Sendable {
  /// The family.
  public var family: FamilyID
  /// The child whose device it is.
  public var child: PersonID
  /// The organizer's Ed25519 public key; empty without a family.
  public var organizerKey: [UInt8]
  /// Creates a root of trust.
  public init(family: FamilyID, child: PersonID, organizerKey: [UInt8]) {
    self.family = family
    self.child = child
    self.organizerKey = organizerKey
  }
}

/// Verifies a device's evidence inside an app, with the rosters that lead back to the organizer's
/// key.
///
/// The evidence contains no names, no messages and no key of the conversation.
struct EvidenceVerifier: Sendable {
  let vault: any EvidenceVault
  private(set) var pinned: AppSecurity
  /// The rosters that name the authorized signers.
  var rosters: ShownRosters
  /// The signed statements about handles.
  private var known = KnownHandles()
  /// The signed statements about the consent to the app: `isKnown` is the consent.
  private var consent = Statements<KnownStatement.Change>()

  init(_ vault: any EvidenceVault, pinned: AppSecurity) {
    self.vault = vault
    self.pinned = pinned
    rosters = ShownRosters(vault, pinned: pinned)
  }

  /// A fact that evidence proves.
  enum Fact {
    /// A guardian's choice for a question of this app, with the items of its topic.
    case decided(QuestionID, ChoiceHeader, about: [[UInt8]])
    /// Another statement about handles.
    case handles
    /// The consent to this app was withdrawn, or given back.
    case consent(isWithdrawn: Bool)
  }

  /// The changes that a piece of evidence makes.
  struct Changes {
    var handles: [Handle] = []
    var records: [AppRecordChange] = []
    /// The new state of the consent, or `nil` if the evidence does not change the consent.
    var isConsentWithdrawn: Bool?
  }

  mutating func restore(_ statement: KnownStatement, in app: AppID) {
    if statement.kind == .consent { consent = statement.changes }
    known.restore(statement, in: app)
  }

  func isKnown(_ handle: Handle, in app: AppID) -> Bool { known.contains(handle, in: app) }

  /// The end by which the handle stops to be known in the app; `nil` for a handle that is unknown or
  /// known without an end.
  func end(of handle: Handle, in app: AppID) -> Instant? { known.end(of: handle, in: app) }

  /// The ends of the handles that only approvals with an end make known.
  func ends(in app: AppID) -> [Handle: Instant] { known.ends(in: app) }

  /// The latest time that the device's entries prove.
  var latest: Instant { known.latest }

  mutating func advance(to time: Instant) { known.advance(to: time) }

  /// Whether no evidence is about the handle.
  func hasNoStatement(about handle: Handle, in app: AppID) -> Bool {
    known.statements(of: handle, in: app).isEmpty
  }

  /// Verifies a piece of evidence and returns the fact that it proves.
  func verify(_ evidence: Evidence, in app: AppID) throws(Problem) -> Fact {
    let event = evidence.event
    guard let signature = event.signature, event.device == signature.signer,
      event.audience == .conversation(pinned.child)
    else { throw .notSigned }
    guard signature.basedOnSeq < event.seq, event.command.high >> 63 == 0 else { throw .replayed }
    guard event.hasTimelyID else { throw .earlyID() }
    guard let signingKey = rosters.key(for: event, by: signature.signer) else { throw .notSigned }
    let isInPerson = if case .answeredInPerson = event.body { true } else { false }
    let bytes = SignedBytes.of(
      event.body, event.command, in: pinned.family, event.audience, by: signature.signer,
      knowing: signature.known, question: evidence.question,
      hiddenDigest: { _ in [] },
      // Evidence of an in-person answer contains the digest of its content in place of the content.
      contentDigest: { isInPerson ? vault.bytes(of: $0) : vault.digest(vault.bytes(of: $0)) })
    guard vault.verify(signingKey, signature.bytes, bytes) else { throw .notSigned }
    switch event.body {
    case .decided(let decision):
      guard let header = evidence.question, header.id == decision.question else {
        throw .contradiction
      }
      if header.hasExpired(at: event.command.time) { throw .expired }
      return try check(decision, header, evidence.tags, in: app)
    case .answeredInPerson(let header, _, let decision, _):
      if header.hasExpired(at: event.command.time) { throw .expired }
      return try check(decision, header, evidence.tags, in: app)
    case .contactChanged, .withdrawn:
      guard let opened = open(event, evidence.key) else { throw .cannotOpen }
      switch opened {
      case .withdrawal(.consent(app)): return .consent(isWithdrawn: true)
      case .withdrawal(.consentGiven(app)): return .consent(isWithdrawn: false)
      case .withdrawal(.consent), .withdrawal(.consentGiven): throw .contradiction
      default: return .handles
      }
    default: throw .contradiction
    }
  }

  private func open(_ event: Event, _ key: [UInt8]) -> Content? {
    guard let content = event.body.content else { return nil }
    let binding = EventVerifier.binding(pinned.family, event.audience, event.command)
    return vault.open(content, key, binding: binding).flatMap { event.body.fits($0) ? $0 : nil }
  }

  private func check(
    _ decision: Decision, _ header: QuestionHeader, _ tags: SubjectTags?, in app: AppID
  ) throws(Problem) -> Fact {
    guard header.child == pinned.child, header.choices.contains(decision.choice),
      let tags, let (isOwn, items) = vault.read(tags, of: header, in: app)
    else { throw .contradiction }
    // The device reveals all people of a question only with the response to it.
    guard isOwn, items.count == tags.items.count else { return .handles }
    return .decided(decision.question, decision.choice, about: items)
  }

  /// Applies verified evidence. A statement that a known one replaces changes nothing.
  mutating func apply(_ evidence: Evidence, in app: AppID) -> Changes {
    let (event, order) = (evidence.event, evidence.event.order)
    var changes = Changes()
    switch event.body {
    case .decided(let decision), .answeredInPerson(_, _, let decision, _):
      guard decision.choice.answer == .approval, let tags = evidence.tags else { return changes }
      let header = evidence.question ?? event.body.newQuestion
      let items = tags.items.filter { !$0.key.isEmpty }.map(\.item)
      let index = header?.choices.firstIndex { $0.id == decision.choice.id }
      let end = index.flatMap { ChoiceEnd(ofChoice: $0, in: items) }
      if tags.appKey.isEmpty {
        // An approval in another app counts here, except for custom user names.
        changes.handles = items.compactMap(Handle.init(item:)).filter { $0.kind != .custom }
      } else {
        changes.handles = items.compactMap(Handle.init(item:))
        if items.contains(where: \.isUpdate) { setConsent(isWithdrawn: false, order, &changes) }
      }
      known.approve(
        changes.handles, in: app, order, until: end?.moment(decidedAt: event.signedAt))
    default:
      switch open(event, evidence.key) {
      case .contact(let handle, let isKnown):
        known.setContact(handle, known: isKnown, order)
        changes.handles = [handle.canonical]
      case .withdrawal(.handle(let handle, let other)):
        known.withdraw(handle, in: other, order)
        changes.handles = [handle.canonical]
      case .withdrawal(.consent): setConsent(isWithdrawn: true, order, &changes)
      case .withdrawal(.consentGiven): setConsent(isWithdrawn: false, order, &changes)
      default: break
      }
    }
    changes.records += changes.handles.flatMap { known.statements(of: $0, in: app) }
      .map { .put(.statement($0)) }
    return changes
  }

  private mutating func setConsent(
    isWithdrawn: Bool, _ order: StatementOrder, _ changes: inout Changes
  ) {
    consent.add(KnownStatement.Change(isKnown: !isWithdrawn), order)
    changes.isConsentWithdrawn = consent.current.map { !$0.value.isKnown }
    changes.records.append(
      .put(
        .statement(
          KnownStatement(kind: .consent, handle: Handle("", .custom), changes: consent))))
  }
}
