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

  /// The records of a device without its snapshot and the events that the snapshot covers, which are not
  /// read. A device that ignores its snapshot needs ``records(of:)``.
  ///
  /// - Returns: The records, and the opened snapshot; `nil` without one that can be opened.
  /// - Throws: The store's error, or the problem of an invalid record.
  package func recordsAfterSnapshot(of device: DeviceAddress, _ snapshots: Snapshots?) throws
    -> (records: [DeviceRecord], snapshot: OpenedSnapshot?)
  {
    let prefix = device.recordKeyPrefix
    let snapshotKey = prefix + RecordKey.snapshot.bytes
    var snapshot: OpenedSnapshot?
    let hasSnapshot = try read(snapshotKey) { snapshot = try snapshots?.open($0, $1) }
    // The keys of events are the first ones.
    let lastEvent = RecordKey.event(Audience(rawValue: .max), seq: .max).bytes
    func events(_ key: some Sequence<UInt8>, after last: [UInt8]) throws -> [DeviceRecord] {
      try load(prefix: prefix + key, after: prefix + last, skipping: nil)
        .map { try decode($0, under: prefix) }
    }
    var records = try load(prefix: prefix, after: prefix + lastEvent, skipping: snapshotKey)
      .map { try decode($0, under: prefix) }
    guard let snapshot else {
      // The device removes a snapshot that it cannot use.
      if hasSnapshot { records.append(.snapshot([])) }
      return (try records + events(lastEvent.prefix(1), after: []), nil)
    }
    for case .cursor(let cursor) in records {
      let last = RecordKey.event(
        cursor.audience, seq: snapshot.coverage.head(of: cursor.audience)
      ).bytes
      records += try events(last.dropLast(8), after: last)
    }
    return (records, snapshot)
  }

  private func decode(_ record: (key: [UInt8], value: [UInt8]), under prefix: [UInt8]) throws
    -> DeviceRecord
  {
    try DeviceRecord.decode(key: Array(record.key.dropFirst(prefix.count)), value: record.value)
  }
}
