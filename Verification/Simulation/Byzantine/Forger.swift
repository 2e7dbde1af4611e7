import FamilyCore
import FamilyModel
import RelayWire

/// Makes false histories with correct numbers and hashes, which need no key.
///
/// The forger has one key pair of its own, and no other key.
struct Forger {
  /// An entry of a false history.
  enum Entry {
    case kept(Event)
    /// Made when the heads before it are known.
    case forged
    /// Altered, with the present heads as its signer's knowledge.
    case rebased(Event)
  }

  private var random: SeededRandom
  private let own: FakeVault
  /// All events of each family that the relay has ever stored in any history.
  private(set) var seen: [FamilyID: [Event]] = [:]

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    let address = DeviceAddress(family: FamilyID(0xBAD), device: DeviceID(1))
    own = FakeVault(address, FakeVault.KeyMaker(seed: ~seed))
  }

  mutating func learn(_ event: Event, of family: FamilyID) {
    seen[family, default: []].append(event)
  }

  /// A history that begins as the given one, and continues otherwise.
  mutating func edited(_ log: [Event], of family: FamilyID) -> [Event] {
    guard log.count > 1 else { return log }
    let cut = 1 + random.below(log.count - 1)
    var entries = log.dropFirst(cut).map(Entry.kept)
    for _ in 0..<(1 + random.below(4)) { edit(&entries, log, family) }
    return relinked(Array(log.prefix(cut)), entries, of: family)
  }

  /// Events of one audience after a position, edited.
  ///
  /// - Parameter relinks: Whether numbers and hashes continue the chain.
  mutating func edited(
    _ events: [Event], after base: [Event], of family: FamilyID, relinks: Bool
  ) -> [Event] {
    var entries = events.map(Entry.kept)
    for _ in 0..<(1 + random.below(2)) { edit(&entries, base + events, family) }
    let made = relinked(base, entries, of: family)
    guard !relinks else { return Array(made.dropFirst(base.count)) }
    return entries.compactMap {
      switch $0 {
      case .kept(let event), .rebased(let event): event
      case .forged: made.last
      }
    }
  }

  private mutating func edit(_ entries: inout [Entry], _ log: [Event], _ family: FamilyID) {
    let place = random.below(entries.count + 1)
    let old = log + (seen[family] ?? [])
    switch random.below(8) {
    case 0: if place < entries.count { entries.remove(at: place) }
    case 1: if place + 1 < entries.count { entries.swapAt(place, place + 1) }
    case 2, 3: entries.insert(.kept(random.pick(old)), at: place)
    case 4:
      if place < entries.count, case .kept(let event) = entries[place] {
        let altered = alter(event, old)
        entries[place] = random.chance(50) ? .kept(altered) : .rebased(altered)
      }
    case 5:
      let families = seen.keys.sorted()
      guard !families.isEmpty, let event = seen[random.pick(families)]?.last else { return }
      entries.insert(.kept(event), at: place)
    default: entries.insert(.forged, at: place)
    }
  }

  /// Numbers and links the entries after a beginning.
  private mutating func relinked(
    _ beginning: [Event], _ entries: [Entry], of family: FamilyID
  ) -> [Event] {
    var log = beginning
    var heads: [Audience: ChainPosition] = [:]
    for event in beginning {
      heads[event.audience] = ChainPosition(seq: event.seq, hash: event.hash)
    }
    for entry in entries {
      var event: Event
      switch entry {
      case .kept(let kept): event = kept
      case .rebased(let altered):
        event = altered
        event.signature?.known = knowledge(heads, event.body, event.audience, log, family)
      case .forged:
        guard let forged = forge(log, heads, family) else { continue }
        event = forged
      }
      let head = heads[event.audience] ?? ChainPosition()
      event.seq = (log.last?.seq ?? 0) + 1
      event.previous = head.seq
      event.hash = event.hash(after: head.hash, in: family, digest: FakeVault.digest)
      heads[event.audience] = ChainPosition(seq: event.seq, hash: event.hash)
      log.append(event)
    }
    return log
  }

  private func knowledge(
    _ heads: [Audience: ChainPosition], _ body: Event.Body, _ audience: Audience, _ log: [Event],
    _ family: FamilyID
  ) -> Knowledge {
    var known = Knowledge(
      family: heads[.family] ?? ChainPosition(),
      audience: audience == .family ? ChainPosition() : heads[audience] ?? ChainPosition())
    if case .rosterChanged = body {
      known.roster = log.rosterDigest(in: family, digest: FakeVault.digest)
    }
    return known
  }

  /// Changes one part of an event.
  private mutating func alter(_ event: Event, _ others: [Event]) -> Event {
    var event = event
    let other = random.pick(others)
    switch random.below(9) {
    case 0: event.at = event.at + random.milliseconds(-90_000_000...90_000_000)
    case 1: event.device = random.chance(50) ? DeviceID(0) : other.device
    case 2: event.audience = other.audience
    case 3: event.command = ID128(high: event.command.high, low: random.next())
    case 4: event.signature = other.signature
    case 5: event.body = other.body
    case 6: event.signature?.signer = other.device
    case 7: event.signature?.bytes = invented()
    default: event.body = altered(event.body, other)
    }
    return event
  }

  private mutating func altered(_ body: Event.Body, _ other: Event) -> Event.Body {
    let copied = other.body.sealedContent
    switch body {
    case .limitsChanged(let child, let on): return .limitsChanged(child: child, on: !on)
    case .contactChanged(let child, let content):
      return .withdrawn(child: child, copied ?? content)
    case .withdrawn(let child, let content), .posted(let child, let content):
      return .contactChanged(child: child, copied ?? content)
    case .rosterChanged(var roster):
      if random.chance(50), !roster.devices.isEmpty {
        roster.devices.remove(at: random.below(roster.devices.count))
      } else if !roster.persons.isEmpty {
        roster.persons[roster.persons.count - 1].role = .guardian
      }
      return .rosterChanged(roster)
    case .keysShared(let wraps): return .complained(wraps.prefix(1).map(\.key))
    default: return body
    }
  }

  private mutating func invented() -> [UInt8] {
    (0..<8).flatMap { _ in ID128(high: random.next(), low: 0).bytes.prefix(8) }
  }
}

// MARK: Forgeries

extension Forger {
  /// A statement that nobody made.
  private mutating func forge(
    _ log: [Event], _ heads: [Audience: ChainPosition], _ family: FamilyID
  ) -> Event? {
    guard let last = log.last, let roster = log.latestRoster,
      let guardian = roster.devices.first(where: {
        roster.person($0.person)?.role.isGuardian ?? false
      }), let child = roster.children.first
    else { return nil }
    let own = roster.devices.first { $0.signingKey == self.own.signingKey }
    let signer = random.chance(80) ? own ?? guardian : guardian
    let command = ID128(
      high: UInt64(max(0, last.at.milliseconds)) << 16 | 0xFFFF, low: random.next())
    let open = log.openQuestion
    let body: Event.Body
    var audience = Audience.conversation(child.id)
    switch random.below(6) {
    case 0, 1:
      guard let open, let choice = open.choices.first(where: { $0.answer == .approval }) else {
        return nil
      }
      audience = .conversation(open.child)
      body = .decided(Decision(question: open.id, choice: choice))
    case 2: body = .limitsChanged(child: child.id, on: false)
    case 3:
      let contents = log.compactMap { event in
        event.audience == audience ? event.body.sealedContent : nil
      }
      guard !contents.isEmpty else { return nil }
      body = .contactChanged(child: child.id, random.pick(contents))
    default:
      audience = .family
      body = .rosterChanged(falseRoster(roster, log))
    }
    var event = Event(
      seq: 0, previous: 0, audience: audience, command: command, device: signer.id, at: last.at,
      body: body)
    let known = knowledge(heads, body, audience, log, family)
    event.signature = Signature(signer: signer.id, knowing: known, bytes: invented())
    if random.chance(60) {
      // The forger's own key signs: rightful if a false roster was believed.
      let bytes = SignedBytes.of(
        body, command, in: family, audience, by: signer.id, knowing: known, question: open,
        digest: FakeVault.digest, bytes: \.bytes)
      event.signature?.bytes = self.own.sign(bytes)
    } else if random.chance(50), let other = log.last(where: { $0.signature != nil }) {
      event.signature?.bytes = other.signature!.bytes
    }
    return event
  }

  /// A roster with the forger's guardian, with a removed device, or without the organizer's devices.
  private mutating func falseRoster(_ roster: Roster, _ log: [Event]) -> Roster {
    let former = log.rosters.flatMap(\.devices).last { roster.device($0.id) == nil }
    switch random.below(3) {
    case 0:
      if let former, roster.person(former.person) != nil {
        return Roster(persons: roster.persons, devices: roster.devices + [former])
      }
      fallthrough
    case 1:
      let person = Person(
        id: PersonID((roster.persons.last?.id.rawValue ?? 0) + 1), role: .guardian,
        displayName: "x")
      let device = Device(
        id: DeviceID((roster.devices.last?.id.rawValue ?? 0) + 1), person: person.id,
        publicKey: [UInt8](repeating: 9, count: 32), signingKey: own.signingKey,
        agreementKey: own.agreementKey)
      return Roster(persons: roster.persons + [person], devices: roster.devices + [device])
    default:
      let others = roster.devices.filter { roster.person($0.person)?.role != .organizer }
      return Roster(persons: roster.persons, devices: others)
    }
  }
}

extension Event.Body {
  /// The sealed content that the relay can copy.
  fileprivate var sealedContent: Content? {
    switch self {
    case .asked(_, let content), .posted(_, let content), .contactChanged(_, let content),
      .withdrawn(_, let content), .accountChanged(_, let content), .ageNoted(_, let content),
      .ageSet(_, let content, _), .settingsChanged(_, let content, _),
      .answeredInPerson(_, let content, _, _):
      content
    default: nil
    }
  }
}

extension [Event] {
  var rosters: [Roster] {
    compactMap { if case .rosterChanged(let roster) = $0.body { roster } else { nil } }
  }

  fileprivate var latestRoster: Roster? { rosters.last }

  /// The newest question without a decision.
  fileprivate var openQuestion: QuestionHeader? {
    var headers: [QuestionHeader] = []
    for event in self {
      switch event.body {
      case .asked(let header, _): headers.append(header)
      case .cancelled(let id): headers.removeAll { $0.id == id }
      case .decided(let decision): headers.removeAll { $0.id == decision.question }
      default: break
      }
    }
    return headers.last
  }
}
