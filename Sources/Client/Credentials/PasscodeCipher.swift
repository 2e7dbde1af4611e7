import Crypto
import CryptoExtras
public import FamilyModel
import Foundation

/// The cryptography of the family's passcode: scrypt derives the seed of an Ed25519 key from the
/// typed text.
public enum PasscodeCipher {
  /// Base-2 logarithm of scrypt's cost for new passcodes: about 100 ms and 32 MiB per attempt.
  public static let logCost: UInt8 = 15
  private static let blockSize = 8
  private static let maximumMemory = 2 << 30

  /// Derives the public half of a new passcode with a random salt.
  ///
  /// - Throws: `badText` for fewer than 4 or more than 64 characters.
  public static func make(_ typed: String, logCost: UInt8 = logCost) throws(Problem) -> Passcode {
    guard 4...64 ~= typed.count, typed.utf8.count <= Limits.titleBytes else { throw .badText }
    let salt = (0..<16).map { _ in UInt8.random(in: 0 ... .max) }
    guard let key = key(typed, salt, logCost) else { throw .storeFailed }
    return Passcode(
      salt: salt, logCost: logCost, publicKey: Array(key.publicKey.rawRepresentation))
  }

  /// Signs the bytes with the key of a typed passcode.
  ///
  /// - Returns: The signature of 64 bytes; `nil` if the typed text is not the passcode.
  public static func sign(_ bytes: [UInt8], with typed: String, of passcode: Passcode) -> [UInt8]? {
    guard let key = key(typed, passcode.salt, passcode.logCost),
      Array(key.publicKey.rawRepresentation) == passcode.publicKey
    else { return nil }
    return (try? key.signature(for: bytes)).map(Array.init)
  }

  /// Whether the signature of the message verifies under the passcode's public key.
  @Sendable public static func verify(
    _ publicKey: [UInt8], _ signature: [UInt8], _ message: [UInt8]
  ) -> Bool {
    guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey) else {
      return false
    }
    return key.isValidSignature(signature, for: message)
  }

  private static func key(_ typed: String, _ salt: [UInt8], _ logCost: UInt8)
    -> Curve25519.Signing.PrivateKey?
  {
    let seed = try? KDF.Scrypt.deriveKey(
      from: Data(typed.utf8), salt: salt, outputByteCount: 32, rounds: 1 << Int(logCost),
      blockSize: blockSize, parallelism: 1, maxMemory: maximumMemory)
    return seed.flatMap { seed in
      seed.withUnsafeBytes { try? Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
    }
  }
}
