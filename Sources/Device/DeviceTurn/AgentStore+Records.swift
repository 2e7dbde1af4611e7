package import FamilyCore
package import FamilyModel
package import RelayStore
import RelayWire

/// The records with which a device starts.
extension AgentStore {
  /// All records of a device.
  ///
  /// - Throws: The store's error, or the problem of an invalid record.
  package func records(of device: DeviceAddress) throws -> [DeviceRecord] {
    let prefix = device.recordKeyPrefix
    return try load(prefix: prefix).map { try decode($0, under: prefix) }
  }

  /// All records of a device without its snapshot.
  ///
  /// - Throws: The store's error, or the problem of an invalid record.
  package func recordsWithoutSnapshot(of device: DeviceAddress) throws -> [DeviceRecord] {
    try records(of: device, skipping: RecordKey.snapshot.bytes)
  }

  /// The opened snapshot of a device, and the other records. The events that the snapshot covers are not
  /// read. A device that ignores its snapshot needs ``records(of:)``. A damaged snapshot is removed.
  ///
  /// - Returns: Without a snapshot that can be opened, all records and `nil`.
  /// - Throws: The store's error, or the problem of an invalid record.
  package func recordsAfterSnapshot(of device: DeviceAddress, _ snapshots: Snapshots?) throws
    -> (records: [DeviceRecord], snapshot: HandedSnapshot?)
  {
    let snapshotKey = RecordKey.snapshot.bytes
    let (hasSnapshot, snapshot) = try openedSnapshot(
      device.recordKeyPrefix + snapshotKey, snapshots)
    guard let snapshot else {
      // The device removes a useless snapshot.
      let useless: [DeviceRecord] = hasSnapshot ? [.snapshot([])] : []
      return (try recordsWithoutSnapshot(of: device) + useless, nil)
    }
    // The keys of events are the first ones.
    let lastEvent = RecordKey.event(Audience(rawValue: .max), seq: .max).bytes
    var records = try records(of: device, after: lastEvent, skipping: snapshotKey)
    for case .cursor(let cursor) in records {
      let last = RecordKey.event(
        cursor.audience, seq: snapshot.coverage.head(of: cursor.audience)
      ).bytes
      records += try self.records(of: device, last.dropLast(8), after: last)
    }
    return (records, HandedSnapshot(snapshot))
  }

  /// Whether there is a snapshot, and its opened state; `nil` for one that the device did not seal.
  ///
  /// - Throws: The store's error: also if its file is so damaged that the snapshot cannot be removed.
  private func openedSnapshot(_ key: [UInt8], _ snapshots: Snapshots?) throws(StoreError)
    -> (isStored: Bool, opened: OpenedSnapshot?)
  {
    var opened: OpenedSnapshot?
    do throws(StoreError) {
      let isStored = try read(key) { opened = try snapshots?.read($0, $1) }
      return (isStored, opened)
    } catch {
      guard error.isDamage else { throw error }
      try apply([Change(key: key, value: nil)])
      return (false, nil)
    }
  }

  /// The records of a device whose keys begin with `part` and are after `last`, without one.
  private func records(
    of device: DeviceAddress, _ part: ArraySlice<UInt8> = [], after last: [UInt8] = [],
    skipping skipped: [UInt8]? = nil
  ) throws -> [DeviceRecord] {
    let prefix = device.recordKeyPrefix
    return try load(
      prefix: prefix + part, after: prefix + last, skipping: skipped.map { prefix + $0 }
    ).map { try decode($0, under: prefix) }
  }

  private func decode(_ record: (key: [UInt8], value: [UInt8]), under prefix: [UInt8]) throws
    -> DeviceRecord
  {
    try DeviceRecord.decode(key: Array(record.key.dropFirst(prefix.count)), value: record.value)
  }
}
