import FamilyModel
import RelayStore

/// A store whose commits and reads are measured, and whose commits are traced.
final class MeasuredStore: EventStore {
  private let base: any EventStore
  private let meter: RelayMeter
  private let trace: CommitTrace?

  init(_ base: any EventStore, _ meter: RelayMeter, _ trace: CommitTrace? = nil) {
    self.base = base
    self.meter = meter
    self.trace = trace
  }

  func commit(_ batch: Batch) throws(StoreError) {
    try meter.measureCommit { () throws(StoreError) in try base.commit(batch) }
    trace?.record(batch.events)
  }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try meter.measureRead { () throws(StoreError) in try base.snapshot(of: family) }
  }

  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    try meter.measureRead { () throws(StoreError) in try base.load(family, after: seq) }
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  )
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  {
    try meter.measureRead { () throws(StoreError) in
      try base.events(of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
    }
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) throws(StoreError)
    -> StoredEvent?
  {
    try meter.measureRead { () throws(StoreError) in
      try base.event(of: command, by: device, in: family)
    }
  }

  func verify(after position: Int64, limit: Int) throws(StoreError) -> Verification {
    try base.verify(after: position, limit: limit)
  }

  func copyPart(to path: String, room: Int) throws(StoreError) -> CopyProgress {
    try base.copyPart(to: path, room: room)
  }

  func log(after position: Int, limit: Int, bytes: Int) throws(StoreError) -> LogPart {
    try base.log(after: position, limit: limit, bytes: bytes)
  }

  func replace(_ events: [Int: StoredEvent]) throws(StoreError) { try base.replace(events) }

  func openReader() throws(StoreError) -> (any EventReader)? {
    guard let reader = try base.openReader() else { return nil }
    return MeasuredReader(reader, meter)
  }

  func positions(of families: [FamilyID]) -> ReadPositions { base.positions(of: families) }

  func close() { base.close() }
}

/// A reader whose reads are measured.
private final class MeasuredReader: EventReader {
  private let base: any EventReader
  private let meter: RelayMeter

  init(_ base: any EventReader, _ meter: RelayMeter) {
    self.base = base
    self.meter = meter
  }

  func begin(_ positions: ReadPositions) { base.begin(positions) }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try meter.measureRead { () throws(StoreError) in try base.snapshot(of: family) }
  }

  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    try meter.measureRead { () throws(StoreError) in try base.load(family, after: seq) }
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  )
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  {
    try meter.measureRead { () throws(StoreError) in
      try base.events(of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
    }
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) throws(StoreError)
    -> StoredEvent?
  {
    try meter.measureRead { () throws(StoreError) in
      try base.event(of: command, by: device, in: family)
    }
  }

  func close() { base.close() }
}
