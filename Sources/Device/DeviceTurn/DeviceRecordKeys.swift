package import FamilyCore
public import FamilyModel
package import RelayStore
import RelayWire

extension Change {
  /// A change of a device's record in the store that all devices of a host share.
  package init(_ change: RecordChange, under prefix: [UInt8]) {
    switch change {
    case .put(let record): self.init(key: prefix + record.key.bytes, value: record.value)
    case .delete(let key): self.init(key: prefix + key.bytes, value: nil)
    }
  }
}

extension DeviceAddress {
  /// The prefix of the store keys of this device's records: family and device number, twelve bytes,
  /// big-endian.
  public var recordKeyPrefix: [UInt8] {
    withUnsafeBytes(of: family.rawValue.bigEndian) { Array($0) }
      + withUnsafeBytes(of: device.rawValue.bigEndian) { Array($0) }
  }

  /// The store key of the relay's proof of enrolment. The proof is no record of the device's machine,
  /// so the key is below a device number that no device has.
  public var passKey: [UInt8] { key(below: DeviceID(.max)) }

  /// The store key of the age of the contents that were erased last. The age is no record of the
  /// device's machine, either.
  package var erasureKey: [UInt8] { key(below: DeviceID(.max - 1)) }

  private func key(below number: DeviceID) -> [UInt8] {
    DeviceAddress(family: family, device: number).recordKeyPrefix
      + withUnsafeBytes(of: device.rawValue.bigEndian) { Array($0) }
  }
}
