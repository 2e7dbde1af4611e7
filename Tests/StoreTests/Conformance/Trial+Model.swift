import FamilyModel
import RelayStore

extension Trial {
  /// Commits random batches to the store and to the one in memory. Errors and reads must be equal.
  func agreesWithModel(seed: UInt64) throws {
    var random = RandomRecords(seed: seed)
    let model = MemoryEventStore()
    for round in 1...200 {
      let next = random.nextBatch()
      let committed = agree("seed \(seed), commit \(round)", model) { store in
        try store.commit(next)
        return true
      }
      if committed { random.accept(next) }
      let (family, after) = (random.nextFamily(), random.next(8))
      agree("seed \(seed), load after commit \(round)", model) {
        try $0.load(FamilyID(family), after: after)
      }
      agree("seed \(seed), snapshot after commit \(round)", model) {
        try $0.snapshot(of: FamilyID(family))
      }
      let (audience, last) = (random.nextAudience(), after + random.next(100))
      let (limit, bytes) = (1 + Int(random.next(9)), Int(random.next(80)))
      agree("seed \(seed), page after commit \(round)", model) {
        try $0.page(family, audience, after: after, through: last, limit: limit, bytes: bytes)
      }
      let command = random.nextEvent(family, seq: 1 + random.next(90))
      agree("seed \(seed), command after commit \(round)", model) { try $0.result(of: command) }
    }
  }

  /// - Returns: Whether both have a value.
  @discardableResult
  private func agree<Value: Equatable>(
    _ name: String, _ model: MemoryEventStore, _ body: (any EventStore) throws -> Value
  ) -> Bool {
    let (found, expected) = (Outcome { try body(store) }, Outcome { try body(model) })
    if found != expected { violate(found, insteadOf: expected, name) }
    if case .value = found, case .value = expected { return true }
    return false
  }
}

/// Batches of some families with many events each. A few batches are in conflict with the log.
private struct RandomRecords {
  private static let families: UInt64 = 4
  private var random: IDSource
  private var heads: [UInt64: UInt64] = [:]

  init(seed: UInt64) { random = IDSource(seed: seed) }

  mutating func next(_ bound: UInt64) -> UInt64 { random.next() % bound }
  mutating func nextFamily() -> UInt64 { 1 + next(Self.families) }
  mutating func nextAudience() -> Audience {
    next(2) == 0 ? .family : .conversation(PersonID(3))
  }

  /// The audience, device and command follow from the number, so that reads can name them.
  func nextEvent(_ family: UInt64, seq: UInt64) -> StoredEvent {
    var event = event(family, seq, seq.scattered % 2 == 0 ? .family : .conversation(PersonID(3)))
    event.device = DeviceID(UInt32(1 + seq % 2))
    event.command.low = (seq + 1) / 2
    return event
  }

  mutating func nextBatch() -> Batch {
    var (batch, heads) = (Batch(), heads)
    for _ in 0..<next(5) {
      let family = nextFamily()
      heads[family, default: 0] += next(40) == 0 ? 2 : 1
      batch.events.append(nextEvent(family, seq: heads[family]!))
    }
    for _ in 0..<next(3) {
      let family = nextFamily()
      let delivered = next(1 + (heads[family] ?? 0))
      batch.cursors.append(
        cursor(family, delivered, by: UInt32(1 + next(2)), in: nextAudience()))
    }
    let family = nextFamily()
    if next(4) == 0 { batch.snapshots = [snapshot(family, heads[family] ?? 0)] }
    if next(4) == 0 { batch.passcodeLocks = [lock(family, UInt8(next(256)))] }
    return batch
  }

  mutating func accept(_ batch: Batch) {
    for event in batch.events { heads[event.family.rawValue] = event.seq }
  }
}
