import FamilyModel

/// The signed events that a child's device shows to its apps: rosters, handles and consent.
struct EvidenceArchive: Sendable {
  /// An archived event. A snapshot's events stay packed until an app needs them.
  struct Archived: Sendable {
    enum Form: Sendable {
      case event(Event)
      case packed([UInt8])
    }
    var seq: UInt64
    var form: Form

    func event(_ coding: (any RecordCoding)?) -> Event? {
      switch form {
      case .event(let event): event
      case .packed(let bytes): coding?.event(bytes, isOpen: false)
      }
    }

    func bytes(_ coding: (any RecordCoding)?) -> [UInt8] {
      switch form {
      case .event(let event): coding?.bytes(of: event) ?? []
      case .packed(let bytes): bytes
      }
    }
  }

  /// An event of a snapshot, as the snapshot has it.
  struct PackedEvent: Sendable {
    var seq: UInt64
    var bytes: [UInt8]
  }

  /// The name of the content key of each question.
  var keys = PackedMap<QuestionID, ContentKeyID>()
  /// The events of an archive without a coding.
  private var events: [CommandName: Archived] = [:]
  private var packedEvents = PackedMap<CommandName, PackedEvent>()
  var contentKeys = PackedMap<CommandName, ContentKeyID>()
  /// The encoding of the packed events.
  var coding: (any RecordCoding)?
  /// The rosters by their digests, also some that the device does not count.
  var rosters: [ChainHash: RosterProof] = [:]

  /// The proofs of the rosters that the device counts, at their positions, in order. Each follows the
  /// roster that it changes, which the device may have read later, or may not count.
  func proofs(of counted: [EventVerifier.CountedRoster]) -> [RosterProof] {
    var proofs: [RosterProof] = []
    var seen: Set = [ChainHash()]
    let positions = Dictionary(counted.map { ($0.digest, $0.position.seq) }) { $1 }
    for roster in counted {
      var line = [roster.digest]
      while let former = rosters[line[0]]?.signature.known.roster, !seen.contains(former),
        !line.contains(former)
      {
        line.insert(former, at: 0)
      }
      for digest in line where seen.insert(digest).inserted {
        guard var proof = rosters[digest] else { continue }
        proof.seq = positions[digest] ?? proof.seq
        proofs.append(proof)
      }
    }
    return proofs
  }

  /// Archives a roster by its digest.
  mutating func add(_ event: Event, digest: ChainHash, _ vault: any DeviceVault) {
    guard case .rosterChanged(let roster) = event.body, let signature = event.signature,
      rosters[digest] == nil
    else { return }
    rosters[digest] = RosterProof(
      seq: event.seq, command: event.command, signature: signature, roster: roster.withoutNames,
      hiddenDigest: vault.digest(roster.hiddenBytes))
  }

  /// Archives a verified event in its sealed form.
  mutating func add(_ event: Event, _ vault: any DeviceVault) {
    let name = event.body.content.flatMap(vault.keyName)
    switch event.body {
    case .asked(let header, _): keys[header.id] = name
    case .contactChanged, .withdrawn, .decided: archive(event, name)
    case .answeredInPerson(let header, let content, let decision, let proof):
      keys[header.id] = name
      let digest = Content.sealed(content.signedDigest({ vault.digest($0) }, vault.bytes))
      var short = event
      short.body = .answeredInPerson(header, digest, decision, proof: proof)
      archive(short, name)
    default: break
    }
  }

  private func archived(_ command: CommandName) -> Archived? {
    events[command]
      ?? packedEvents[command].map { Archived(seq: $0.seq, form: .packed($0.bytes)) }
  }

  /// Archives the first event of a command.
  private mutating func archive(_ event: Event, _ key: ContentKeyID?) {
    if let former = archived(event.name), former.seq < event.seq { return }
    if let coding {
      packedEvents[event.name] = PackedEvent(seq: event.seq, bytes: coding.bytes(of: event))
    } else {
      events[event.name] = Archived(seq: event.seq, form: .event(event))
    }
    contentKeys[event.name] = key
  }

  /// Moves the packed events and the names of their keys to a storage.
  mutating func moveHistory(to storage: any HistoryStorage) {
    keys.move(to: storage)
    packedEvents.move(to: storage)
    contentKeys.move(to: storage)
  }

  /// The evidence of a command's event for an app; `nil` if none was archived.
  ///
  /// - Parameter named: The handles that the app has named. The evidence reveals no other handle.
  func evidence(
    _ command: CommandName, for app: AppID, named: HandleSet, _ verifier: EventVerifier,
    question: (QuestionID) -> QuestionState?
  ) -> Evidence? {
    guard var event = archived(command)?.event(coding) else { return nil }
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
        secret, EventVerifier.binding(verifier.family, event.audience, command.id))
      return Evidence(event: event, key: key)
    }
  }
}

extension EvidenceArchive: Packable {
  func pack(_ packer: inout Packer) {
    var all = packedEvents
    for (name, archived) in events {
      all[name] = PackedEvent(seq: archived.seq, bytes: archived.bytes(packer.coding))
    }
    packer.add(keys)
    packer.add(all)
    packer.add(contentKeys)
    packer.add(rosters)
  }

  init(_ packed: inout Unpacker) {
    self.init()
    keys = packed.value()
    packedEvents = packed.value()
    contentKeys = packed.value()
    rosters = packed.value()
    coding = packed.coding
  }
}

extension EvidenceArchive.PackedEvent: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(seq)
    packer.add(bytes)
  }

  init(_ packed: inout Unpacker) {
    let seq = packed.number()
    self.init(seq: seq, bytes: packed.array())
  }
}

/// With all events in one dictionary: which events are packed is no part of the state.
extension EvidenceArchive: CustomReflectable {
  var customMirror: Mirror {
    var all = packedEvents.all.mapValues { Archived(seq: $0.seq, form: .packed($0.bytes)) }
    all.merge(events) { $1 }
    return Mirror(
      self,
      children: [
        "keys": keys, "events": all, "contentKeys": contentKeys, "rosters": rosters,
      ])
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
