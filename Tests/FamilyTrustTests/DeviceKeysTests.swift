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

  @Test("T5: the digest without a key is HMAC-SHA256 under the empty key")
  func digest() throws {
    let empty = KeyVault.digest([]).map { String($0, radix: 16) }.joined(separator: " ")
    #expect(empty.hasPrefix("b6 13 67 9a 8 14 d9 ec 77 2f 95 d7 78 c3 5f c5"))
    for count in [0, 1, 55, 56, 64, 65, 600] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      // HMAC pads a key with zeros, so one zero byte is the empty key.
      #expect(KeyVault.digest(bytes) == KeyVault.Public().digest(bytes, under: [0]))
    }
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
