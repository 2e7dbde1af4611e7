import FamilyModel

/// The events that a device cannot verify yet, by what each of them needs.
///
/// *Waiting* → (``release(_:)``) *ready* → (``popReady()``) removed. A ready event that still lacks
/// something enters again at its place. The arrival of one need never costs a check of the events
/// that wait for another one.
struct DeferredEvents: Sendable {
  /// The requirement of a deferred event.
  enum Need: Hashable, Sendable {
    /// This event of the family's audience, which the signer knew.
    case family(seq: UInt64)
    /// The history that the signer knew, in place of the device's present one.
    case history
    /// A question, whose event is deferred as well.
    case question(QuestionID)
    /// A content key.
    case key(Audience, ContentKeyID)
  }

  /// An event with its place in the order of arrival.
  struct Entry: Sendable {
    let order: UInt64
    let event: Event
  }

  private struct Use: Sendable {
    var events = 0
    var bytes = 0
  }

  /// The events; a ready event needs nothing.
  private var entries: [UInt64: (event: Event, need: Need?)] = [:]
  /// The waiting events of each need.
  private var waiting: [Need: [UInt64]] = [:]
  /// The ready events, descending by arrival.
  private var ready: [UInt64] = []
  /// The events of each command.
  private var commands: [CommandName: [UInt64]] = [:]
  /// The memory of each signer's events.
  private var use: [DeviceID: Use] = [:]
  /// The family events that deferred events wait for, descending.
  private var familySeqs: [UInt64] = []
  /// The questions whose own events are deferred.
  private var questions: [QuestionID: Int] = [:]
  var next: UInt64 = 0
  /// Whether an event was above the limit. The store has it until the device's next start.
  private(set) var hasDropped = false
  /// The number of events that wait for a key.
  private(set) var keyless = 0

  var count: Int { entries.count }
  var hasReady: Bool { !ready.isEmpty }
  /// Whether an event waits for another history.
  var hasForks: Bool { waiting[.history] != nil }

  /// Whether an event waits for an event of the family that its signer knew.
  var awaitsFamily: Bool { familySeqs.contains { waiting[.family(seq: $0)] != nil } }

  /// The events that wait for another history.
  var forks: [Entry] {
    (waiting[.history] ?? []).compactMap { order in
      entries[order].map { Entry(order: order, event: $0.event) }
    }
  }

  /// The keys that events wait for.
  var missingKeys: [(audience: Audience, name: ContentKeyID)] {
    waiting.keys.compactMap {
      if case .key(let audience, let name) = $0 { (audience, name) } else { nil }
    }
  }

  /// Whether an event of the command waits.
  func holds(_ command: CommandName) -> Bool { commands[command] != nil }

  /// Whether the question's own event is deferred, or may have been dropped.
  func mayHold(_ question: QuestionID) -> Bool { hasDropped || questions[question] != nil }

  /// Keeps an event, unless it is repeated, or its signer's share or the whole memory is used up.
  mutating func insert(_ event: Event, _ need: Need) {
    let isRepeated = (commands[event.name] ?? []).contains { order in
      entries[order]?.event.signature == event.signature
        && entries[order]?.event.body == event.body
    }
    guard !isRepeated else { return }
    let used = use[event.device] ?? Use()
    guard entries.count < Limits.deferredEvents, used.events < Limits.deferredEventsOfSigner,
      used.bytes + event.size <= Limits.deferredBytesOfSigner
    else {
      hasDropped = true
      return
    }
    next += 1
    insert(Entry(order: next, event: event), need)
  }

  /// Keeps an event that was ready and still lacks something, at its place.
  mutating func insert(_ entry: Entry, _ need: Need) {
    let event = entry.event
    entries[entry.order] = (event, need)
    waiting[need, default: []].append(entry.order)
    commands[event.name, default: []].append(entry.order)
    use[event.device, default: Use()].events += 1
    use[event.device]!.bytes += event.size
    if case .key = need { keyless += 1 }
    if case .family(let seq) = need { add(familySeq: seq) }
    if let question = event.body.newQuestion { questions[question.id, default: 0] += 1 }
  }

  private mutating func add(familySeq seq: UInt64) {
    let index = familySeqs.firstIndex { $0 <= seq } ?? familySeqs.endIndex
    guard index == familySeqs.endIndex || familySeqs[index] != seq else { return }
    familySeqs.insert(seq, at: index)
  }

  /// Makes the events ready that wait for this.
  mutating func release(_ need: Need) {
    for order in waiting[need] ?? [] { release(order: order) }
  }

  /// Makes the events ready whose signers knew no newer event of the family.
  mutating func release(familyUpTo seq: UInt64) {
    while let wanted = familySeqs.last, wanted <= seq {
      familySeqs.removeLast()
      release(.family(seq: wanted))
    }
  }

  /// Makes the waiting event at this place ready.
  mutating func release(order: UInt64) {
    stopWaiting(order)
    let index = ready.firstIndex { $0 < order } ?? ready.endIndex
    ready.insert(order, at: index)
  }

  /// Removes and returns the ready event that arrived first.
  mutating func popReady() -> Entry? {
    guard let order = ready.last, let (event, _) = entries[order] else { return nil }
    remove(order)
    return Entry(order: order, event: event)
  }

  /// Removes the events of a command, because another copy of it was verified.
  mutating func remove(_ command: CommandName) {
    for order in commands[command] ?? [] { remove(order) }
  }

  private mutating func remove(_ order: UInt64) {
    stopWaiting(order)
    guard let (event, _) = entries.removeValue(forKey: order) else { return }
    ready.removeAll { $0 == order }
    commands[event.name]?.removeAll { $0 == order }
    if commands[event.name]?.isEmpty ?? false { commands[event.name] = nil }
    use[event.device]!.events -= 1
    use[event.device]!.bytes -= event.size
    if use[event.device]!.events == 0 { use[event.device] = nil }
    if let question = event.body.newQuestion {
      questions[question.id]! -= 1
      if questions[question.id] == 0 { questions[question.id] = nil }
    }
  }

  private mutating func stopWaiting(_ order: UInt64) {
    guard let need = entries[order]?.need else { return }
    entries[order]!.need = nil
    waiting[need]!.removeAll { $0 == order }
    if waiting[need]!.isEmpty { waiting[need] = nil }
    if case .key = need { keyless -= 1 }
  }
}

extension Event {
  /// Bytes of the sealed content, which is nearly all that a deferred event takes.
  fileprivate var size: Int {
    if case .sealed(let bytes) = body.content { bytes.count } else { 0 }
  }
}
