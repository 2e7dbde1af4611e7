import Crypto
import FamilyCore
public import FamilyModel
import RelayStore
import RelayWire

/// Tells questions about the same people in one app apart from others, without saying who they are (A6).
///
/// SHA-256 over the child, the app and the canonical handles. Who knows a handle can check it; a key that
/// only the family has takes that away, once the family has one.
struct SubjectDigest: Sendable {
  private let address: DeviceAddress
  private let person: PersonID

  init(_ credential: Credential) {
    address = credential.address
    person = credential.personID
  }

  func callAsFunction(_ app: AppID, _ handles: [Handle]) -> [UInt8] {
    var hash = SHA256()
    func add(_ text: String) {
      withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian) { hash.update(bufferPointer: $0) }
      hash.update(data: Array(text.utf8))
    }
    add("\(address.family.rawValue)/\(person.rawValue)")
    add(app.rawValue)
    for handle in handles { add("\(handle.kind.rawValue):\(handle.value)") }
    return Array(hash.finalize())
  }
}

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
