import FamilyModel

/// The signed events that a child's device shows to its apps: rosters, handles and consent.
struct EvidenceArchive: Sendable {
  /// The name of the content key of each question.
  private var keys: [QuestionID: ContentKeyID] = [:]
  private var events: [CommandID: Event] = [:]
  private var contentKeys: [CommandID: ContentKeyID] = [:]
  /// All rosters, from the organizer's first.
  private(set) var rosters: [RosterProof] = []

  /// Archives a verified event in its sealed form.
  mutating func add(_ event: Event, _ vault: any DeviceVault) {
    let name = event.body.content.flatMap(vault.keyName)
    switch event.body {
    case .rosterChanged(let roster):
      // Apps accept ascending numbers. A roster of a history that the relay has lost may have a larger
      // one.
      guard let signature = event.signature, event.seq > rosters.last?.seq ?? 0 else { return }
      rosters.append(
        RosterProof(
          seq: event.seq, command: event.command, signature: signature,
          roster: roster.withoutNames, hiddenDigest: vault.digest(roster.hiddenBytes)))
    case .asked(let header, _): keys[header.id] = name
    case .contactChanged, .withdrawn, .decided: archive(event, name)
    case .answeredInPerson(let header, let content, let decision, let proof):
      keys[header.id] = name
      let digest = Content.sealed(vault.digest(vault.bytes(of: content)))
      var short = event
      short.body = .answeredInPerson(header, digest, decision, proof: proof)
      archive(short, name)
    default: break
    }
  }

  /// Archives the first event of an id. Another device may use the id later, which must not replace
  /// the evidence of the first event.
  private mutating func archive(_ event: Event, _ name: ContentKeyID?) {
    if let former = events[event.command], former.seq < event.seq { return }
    events[event.command] = event
    contentKeys[event.command] = name
  }

  /// The evidence of a command's event for an app; `nil` if none was archived.
  ///
  /// - Parameter named: The handles that the app has named. The evidence reveals no other handle.
  func evidence(
    _ command: CommandID, for app: AppID, named: HandleSet, _ verifier: EventVerifier,
    question: (QuestionID) -> QuestionState?
  ) -> Evidence? {
    guard var event = events[command] else { return nil }
    func tags(_ header: QuestionHeader) -> SubjectTags? {
      guard let question = question(header.id)?.question,
        let secret = keys[header.id].flatMap({ verifier.ring.secret($0, event.audience) })
      else { return nil }
      let tags = verifier.vault.tags(of: question, in: header.app, secret)
      return tags.revealing(named, isOwn: header.app == app)
    }
    switch event.body {
    case .decided(let decision):
      guard let header = question(decision.question)?.header else { return nil }
      return Evidence(event: event, question: header.withoutApp, tags: tags(header))
    case .answeredInPerson(let header, let digest, let decision, let proof):
      event.body = .answeredInPerson(header.withoutApp, digest, decision, proof: proof)
      return Evidence(event: event, tags: tags(header))
    default:
      guard let secret = contentKeys[command].flatMap({ verifier.ring.secret($0, event.audience) })
      else { return nil }
      let key = verifier.vault.contentKey(
        secret, EventVerifier.binding(verifier.family, event.audience, command))
      return Evidence(event: event, key: key)
    }
  }
}

extension EvidenceVault {
  /// The key of one content, derived from the audience's content key. An app that receives it can
  /// open this content and no other.
  package func contentKey(_ secret: [UInt8], _ binding: [UInt8]) -> [UInt8] {
    digest(BoundBytes("permission-relay one content 1").bytes + binding, under: secret)
  }
}

extension QuestionHeader {
  var withoutApp: QuestionHeader {
    var header = self
    header.app = AppID("")
    return header
  }
}
