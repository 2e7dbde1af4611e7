import FamilyCore
public import FamilyModel
import RelayStore
import RelayWire

extension Change {
  /// A change of a device's record, in the store that the process's devices share.
  init(_ change: RecordChange, under prefix: [UInt8]) {
    switch change {
    case .put(let record): self.init(key: prefix + record.key.bytes, value: record.value)
    case .delete(let key): self.init(key: prefix + key.bytes, value: nil)
    }
  }
}

extension DeviceAddress {
  /// What the keys of this device's records begin with: twelve bytes, family and device.
  public var prefix: [UInt8] {
    withUnsafeBytes(of: family.rawValue.bigEndian) { Array($0) }
      + withUnsafeBytes(of: device.rawValue.bigEndian) { Array($0) }
  }
}
