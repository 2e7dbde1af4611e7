import FamilyTrust
import Testing

/// What the devices of one process need not verify again.
@Suite struct VerifiedTests {
  private let keys = DeviceKeys()
  private let verified = Verified()

  @Test("X3: a signature verified by one device is none of another key, or of other bytes")
  func exact() {
    let first = KeyVault(DeviceKeys(), sharing: verified)
    let other = KeyVault(DeviceKeys(), sharing: verified)
    let bytes: [UInt8] = [1, 2, 3]
    let signature = KeyVault(keys).sign(bytes)
    #expect(first.verify(keys.signingKey, signature, bytes))
    #expect(verified.count == 1)
    #expect(other.verify(keys.signingKey, signature, bytes))
    #expect(!other.verify(DeviceKeys().signingKey, signature, bytes))
    #expect(!other.verify(keys.signingKey, signature, [1, 2, 4]))
    #expect(!other.verify(keys.signingKey, signature, [1, 2]))
    #expect(!other.verify(keys.signingKey, signature + [1], [2, 3]))
    #expect(
      !other.verify(keys.signingKey + signature.prefix(1), Array(signature.dropFirst()), bytes))
    for index in signature.indices {
      var forged = signature
      forged[index] ^= 1
      #expect(!other.verify(keys.signingKey, forged, bytes))
    }
  }

  @Test("X3: a signature that is wrong stays wrong, however often it comes")
  func wrong() {
    let vault = KeyVault(keys, sharing: verified)
    let signature = KeyVault(DeviceKeys()).sign([1])
    for _ in 0..<3 { #expect(!vault.verify(keys.signingKey, signature, [1])) }
    #expect(verified.count == 0)
  }

  @Test(
    "X3: a device's own signature is none of what it did not sign, though it need not be verified")
  func own() {
    let vault = KeyVault(keys, sharing: verified)
    let signature = vault.sign([1])
    #expect(verified.count == 1)
    #expect(vault.verify(keys.signingKey, signature, [1]))
    #expect(!vault.verify(keys.signingKey, signature, [2]))
    #expect(verified.count == 1)
  }

  @Test("what is remembered has a limit, at which the oldest is verified again")
  func limit() {
    let vault = KeyVault(keys, sharing: verified)
    let first = vault.sign([0, 0])
    for number in 1...UInt32(Verified.remembered) * 2 {
      withUnsafeBytes(of: number) { _ = vault.sign(Array($0)) }
      #expect(verified.count <= 2 * Verified.remembered)
    }
    #expect(verified.count > Verified.remembered)
    #expect(vault.verify(keys.signingKey, first, [0, 0]))
  }
}
