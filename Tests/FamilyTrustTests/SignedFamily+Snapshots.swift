import FamilyModel

@testable import FamilyCore

/// The machines of stored records, and snapshots of running devices.
extension SignedFamily {
  func records(of id: UInt32) -> [DeviceRecord] {
    machines.records(of: id)
      .map { try! DeviceRecord.decode(key: $0.key.bytes, value: $0.value) }
  }

  func isChild(_ id: UInt32) -> Bool {
    roster.person(roster.device(DeviceID(id))!.person)!.role == .child
  }

  func childMachine(
    _ id: UInt32, _ security: Security?, _ records: [DeviceRecord], _ ids: IDSource
  ) -> ChildMachine {
    ChildMachine(
      address(id), of: roster.device(DeviceID(id))!.person, apps: [Self.app], security: security,
      restoring: records, ids: ids)
  }

  func guardianMachine(
    _ id: UInt32, _ security: Security?, _ records: [DeviceRecord], _ ids: IDSource
  ) -> GuardianMachine {
    GuardianMachine(
      address(id), of: roster.device(DeviceID(id))!.person, security: security,
      restoring: records, ids: ids)
  }

  /// The snapshot that a second machine of the device's records makes.
  func snapshotOfRecords(_ id: UInt32) -> [UInt8]? {
    let (records, ids) = (records(of: id).withoutCovered, IDSource(seed: 1))
    return isChild(id)
      ? childMachine(id, security(id), records, ids).link.newSnapshot
      : guardianMachine(id, security(id), records, ids).link.newSnapshot
  }

  /// Answers the request for a snapshot, or holds the answer back.
  mutating func makeSnapshot(_ number: UInt64, of id: UInt32) {
    requestedSnapshots += 1
    let snapshot = snapshotOfRecords(id)
    if holdsSnapshots { return heldSnapshots.append((id, number, snapshot)) }
    snapshotMade(number, snapshot, on: id)
  }

  mutating func snapshotMade(_ number: UInt64, _ snapshot: [UInt8]?, on id: UInt32) {
    if isChild(id) {
      child(id, .snapshotMade(number, snapshot))
    } else {
      guardian(id, .snapshotMade(number, snapshot))
    }
  }
}

extension [DeviceRecord] {
  /// The bytes of the snapshot; `nil` without one.
  var firstSnapshot: [UInt8]? {
    for case .snapshot(let bytes) in self { return bytes }
    return nil
  }
}
