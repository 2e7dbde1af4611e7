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

  /// The records of a device without the events that its snapshot covers, which are not read. A device
  /// that ignores its snapshot needs ``records(of:)``.
  ///
  /// - Throws: The store's error, or the problem of an invalid record.
  package func recordsAfterSnapshot(of device: DeviceAddress) throws -> [DeviceRecord] {
    let prefix = device.recordKeyPrefix
    // The keys of events are the first ones.
    let lastEvent = RecordKey.event(Audience(rawValue: .max), seq: .max).bytes
    func events(_ key: some Sequence<UInt8>, after last: [UInt8]) throws -> [DeviceRecord] {
      try load(prefix: prefix + key, after: prefix + last).map { try decode($0, under: prefix) }
    }
    var records = try load(prefix: prefix, after: prefix + lastEvent)
      .map { try decode($0, under: prefix) }
    var coverage: SnapshotCoverage?
    for case .snapshot(let bytes) in records { coverage = SnapshotCoverage(of: bytes) }
    guard let coverage else { return try records + events(lastEvent.prefix(1), after: []) }
    for case .cursor(let cursor) in records {
      let last = RecordKey.event(cursor.audience, seq: coverage.head(of: cursor.audience)).bytes
      records += try events(last.dropLast(8), after: last)
    }
    return records
  }

  private func decode(_ record: (key: [UInt8], value: [UInt8]), under prefix: [UInt8]) throws
    -> DeviceRecord
  {
    try DeviceRecord.decode(key: Array(record.key.dropFirst(prefix.count)), value: record.value)
  }
}
