import FamilyModel

/// What a child's device keeps to show its apps: the rosters, and what was signed about handles and consent.
struct EvidenceFile: Sendable {
  /// Of which question's content this is the key.
  private var keys: [QuestionID: ContentKeyID] = [:]
  private var events: [CommandID: Event] = [:]
  private var contentKeys: [CommandID: ContentKeyID] = [:]
  /// From the organizer's first on.
  private(set) var rosters: [RosterProof] = []

  /// Takes an event that is believed, as it came.
  mutating func keep(_ event: Event, _ vault: any DeviceVault) {
    let name = event.body.content.flatMap(vault.keyName)
    switch event.body {
    case .rosterChanged(let roster):
      guard let signature = event.signature else { return }
      rosters.append(
        RosterProof(
          seq: event.seq, command: event.command, signature: signature,
          roster: roster.withoutNames, rest: vault.digest(roster.rest)))
    case .asked(let header, _): keys[header.id] = name
    case .contactChanged, .withdrawn, .decided: events[event.command] = event
    case .answeredInPerson(let header, let content, let decision, let proof):
      keys[header.id] = name
      let digest = Content.sealed(vault.digest(vault.bytes(of: content)))
      var short = event
      short.body = .answeredInPerson(header, digest, decision, proof: proof)
      events[event.command] = short
    default: break
    }
    if events[event.command] != nil { contentKeys[event.command] = name }
  }

  /// What the app may see of the command's event; `nil` where nothing was kept of it.
  func evidence(
    _ command: CommandID, for app: AppID, _ trust: EventVerifier,
    question: (QuestionID) -> QuestionState?
  ) -> Evidence? {
    guard var event = events[command] else { return nil }
    func tags(_ header: QuestionHeader) -> SubjectTags? {
      guard let question = question(header.id)?.question,
        let secret = keys[header.id].flatMap({ trust.ring.secret($0, event.audience) })
      else { return nil }
      let tags = trust.vault.tags(of: question, in: header.app, secret)
      return header.app == app ? tags : tags.forOtherApps
    }
    switch event.body {
    case .decided(let decision):
      guard let header = question(decision.question)?.header else { return nil }
      return Evidence(event: event, question: header.withoutApp, tags: tags(header))
    case .answeredInPerson(let header, let digest, let decision, let proof):
      event.body = .answeredInPerson(header.withoutApp, digest, decision, proof: proof)
      return Evidence(event: event, tags: tags(header))
    default:
      guard let secret = contentKeys[command].flatMap({ trust.ring.secret($0, event.audience) })
      else { return nil }
      let key = trust.vault.contentKey(
        secret, EventVerifier.binding(trust.family, event.audience, command))
      return Evidence(event: event, key: key)
    }
  }
}

extension EvidenceVault {
  /// The key of one content: shown to somebody, it opens that one alone.
  func contentKey(_ secret: [UInt8], _ binding: [UInt8]) -> [UInt8] {
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
