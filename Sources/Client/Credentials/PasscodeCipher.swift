import Crypto
import CryptoExtras
public import FamilyCore
public import FamilyModel
import Foundation

/// The cryptography of the family's passcode.
///
/// The relay evaluates the blinded passcode under a secret. From the typed text and the result,
/// the slow function scrypt derives the seed of an Ed25519 key. Each attempt needs the relay.
public enum PasscodeCipher {
  /// Base-2 logarithm of scrypt's cost for new passcodes: about 100 ms and 32 MiB per attempt.
  public static let logCost: UInt8 = 15
  private static let blockSize = 8
  private static let maximumMemory = 2 << 30

  /// The relay's part.
  public static let evaluator = PasscodeEvaluator(
    makeSecret: { ObliviousFunction.makeScalar() },
    publicKey: { ObliviousFunction.publicKey(of: $0) ?? [] },
    evaluate: { secret, element in
      guard let (evaluated, proof) = ObliviousFunction.evaluate(element, secret: secret),
        let key = ObliviousFunction.publicKey(of: secret)
      else { return nil }
      return PasscodeEvaluation(element: evaluated, proof: proof, relayKey: key)
    })

  /// Blinds a typed passcode with a random number.
  @Sendable public static func blind(_ typed: String) -> PasscodeAttempt {
    while true {
      let blind = ObliviousFunction.makeScalar()
      guard let element = ObliviousFunction.blind(input(typed), by: blind) else { continue }
      return PasscodeAttempt(typed: typed, blind: blind, element: element)
    }
  }

  /// Derives the public half of a new passcode with a random salt.
  ///
  /// - Throws: `badText` for a wrong length, or `malformed` for an invalid evaluation.
  public static func make(
    _ attempt: PasscodeAttempt, _ evaluation: PasscodeEvaluation, logCost: UInt8 = logCost
  ) throws(Problem) -> Passcode {
    try Passcode.validate(typed: attempt.typed)
    var passcode = Passcode(
      salt: (0..<16).map { _ in UInt8.random(in: 0 ... .max) }, logCost: logCost, publicKey: [],
      relayKey: evaluation.relayKey)
    guard let key = key(attempt, evaluation, passcode) else { throw .malformed }
    passcode.publicKey = Array(key.publicKey.rawRepresentation)
    return passcode
  }

  /// Signs the bytes with the key of a typed passcode.
  ///
  /// - Returns: The signature of 64 bytes; `nil` if the typed text is not the passcode, or the
  ///   evaluation is not valid.
  public static func sign(
    _ bytes: [UInt8], with attempt: PasscodeAttempt, _ evaluation: PasscodeEvaluation,
    of passcode: Passcode
  ) -> [UInt8]? {
    guard let key = key(attempt, evaluation, passcode),
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

  private static func input(_ typed: String) -> [UInt8] {
    var input = BoundBytes("permission-relay passcode 2")
    input.add(typed)
    return input.bytes
  }

  private static func key(
    _ attempt: PasscodeAttempt, _ evaluation: PasscodeEvaluation, _ passcode: Passcode
  ) -> Curve25519.Signing.PrivateKey? {
    let output = ObliviousFunction.finalize(
      input(attempt.typed), blind: attempt.blind, evaluated: evaluation.element,
      proof: evaluation.proof, key: passcode.relayKey)
    guard let output else { return nil }
    let seed = try? KDF.Scrypt.deriveKey(
      from: Data(attempt.typed.utf8), salt: passcode.salt + output, outputByteCount: 32,
      rounds: 1 << Int(passcode.logCost), blockSize: blockSize, parallelism: 1,
      maxMemory: maximumMemory)
    return seed.flatMap { seed in
      seed.withUnsafeBytes { try? Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
    }
  }
}
