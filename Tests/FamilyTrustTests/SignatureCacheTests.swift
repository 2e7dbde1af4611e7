import FamilyTrust
import Testing

/// The cache of valid signatures that the devices of one process share.
@Suite struct SignatureCacheTests {
  private let keys = DeviceKeys()
  private let cache = SignatureCache()

  @Test("X3: a cached signature stays invalid for another key, other bytes and other signatures")
  func exact() {
    let first = KeyVault(DeviceKeys(), sharing: cache)
    let other = KeyVault(DeviceKeys(), sharing: cache)
    let bytes: [UInt8] = [1, 2, 3]
    let signature = KeyVault(keys).sign(bytes)
    #expect(first.verify(keys.signingKey, signature, bytes))
    #expect(cache.count == 1)
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

  @Test("X3: rejects an invalid signature at every repetition, and does not cache it")
  func wrong() {
    let vault = KeyVault(keys, sharing: cache)
    let signature = KeyVault(DeviceKeys()).sign([1])
    for _ in 0..<3 { #expect(!vault.verify(keys.signingKey, signature, [1])) }
    #expect(cache.count == 0)
  }

  @Test(
    "X3: a device's own signature is cached, and invalid for other bytes")
  func own() {
    let vault = KeyVault(keys, sharing: cache)
    let signature = vault.sign([1])
    #expect(cache.count == 1)
    #expect(vault.verify(keys.signingKey, signature, [1]))
    #expect(!vault.verify(keys.signingKey, signature, [2]))
    #expect(cache.count == 1)
  }

  @Test("the cache has a limit; an evicted signature is verified again")
  func limit() {
    let vault = KeyVault(keys, sharing: cache)
    let first = vault.sign([0, 0])
    for number in 1...UInt32(SignatureCache.capacity) * 2 {
      withUnsafeBytes(of: number) { _ = vault.sign(Array($0)) }
      #expect(cache.count <= 2 * SignatureCache.capacity)
    }
    #expect(cache.count > SignatureCache.capacity)
    #expect(vault.verify(keys.signingKey, first, [0, 0]))
  }
}
