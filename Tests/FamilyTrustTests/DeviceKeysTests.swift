import FamilyModel
import FamilyTrust
import Testing

@Suite struct DeviceKeysTests {
  @Test("X3: keys are restored from their secrets and appear in no description or dump")
  func secrets() throws {
    let keys = DeviceKeys()
    let again = try #require(
      DeviceKeys(signingSecret: keys.signingSecret, agreementSecret: keys.agreementSecret))
    #expect(again.signingKey == keys.signingKey && again.agreementKey == keys.agreementKey)
    #expect(DeviceKeys().signingKey != keys.signingKey)
    #expect(DeviceKeys(signingSecret: [1], agreementSecret: keys.agreementSecret) == nil)
    var text = "\(keys) \(String(reflecting: keys))"
    dump(keys, to: &text)
    #expect(!text.contains("\(keys.signingSecret[0]), \(keys.signingSecret[1])"))
    #expect(!text.contains("rawRepresentation") && !text.contains("signing"))
  }

  @Test("F3: every key has 32 bytes; all but the CURVE key may be absent")
  func wellFormed() {
    let id = DeviceID(1)
    let key = [UInt8](repeating: 1, count: 32)
    #expect(Device(id: id, person: PersonID(1), publicKey: key, keys: DeviceKeys()).isWellFormed)
    #expect(Device(id: id, person: PersonID(1), publicKey: key).isWellFormed)
    #expect(!Device(id: id, person: PersonID(1), publicKey: key, signingKey: [1]).isWellFormed)
    #expect(!Device(id: id, person: PersonID(1), publicKey: key, agreementKey: [1]).isWellFormed)
    #expect(!Device(id: id, person: PersonID(1), publicKey: [1], keys: DeviceKeys()).isWellFormed)
  }
}
