import CSodium
import Crypto

/// An oblivious pseudorandom function: RFC 9497, ciphersuite ristretto255-SHA512, verifiable mode.
///
/// The holder of the secret computes the function without learning the input, and the other side
/// learns nothing but the output. A proof binds each evaluation to the secret's public key.
/// Scalars, elements and public keys have 32 bytes.
enum ObliviousFunction {
  static let bytes = 32

  private static let context = Array("OPRFV1-".utf8) + [1] + Array("-ristretto255-SHA512".utf8)

  private static let isReady = sodium_init() >= 0

  /// Generates a random scalar that is not zero.
  static func makeScalar() -> [UInt8] {
    precondition(isReady, "libsodium has no source of random numbers")
    var scalar = [UInt8](repeating: 0, count: bytes)
    repeat {
      crypto_core_ristretto255_scalar_random(&scalar)
    } while scalar.allSatisfy { $0 == 0 }
    return scalar
  }

  /// The public key of a secret scalar.
  static func publicKey(of secret: [UInt8]) -> [UInt8]? {
    guard secret.count == bytes else { return nil }
    var key = [UInt8](repeating: 0, count: bytes)
    return crypto_scalarmult_ristretto255_base(&key, secret) == 0 ? key : nil
  }

  /// The input's element, blinded by a scalar; `nil` with negligible probability.
  static func blind(_ input: [UInt8], by blind: [UInt8]) -> [UInt8]? {
    times(blind, element(of: input))
  }

  /// Evaluates a blinded element.
  ///
  /// - Parameter nonce: A random scalar for the proof, used once.
  /// - Returns: The evaluated element and the proof of 64 bytes; `nil` for an invalid element.
  static func evaluate(_ element: [UInt8], secret: [UInt8], nonce: [UInt8] = makeScalar())
    -> (element: [UInt8], proof: [UInt8])?
  {
    guard let key = publicKey(of: secret), let evaluated = times(secret, element),
      let composite = times(weight(key, element, evaluated), element),
      let evaluatedComposite = times(secret, composite),
      let first = publicKey(of: nonce), let second = times(nonce, composite)
    else { return nil }
    let challenge = challenge(key, composite, evaluatedComposite, first, second)
    var product = [UInt8](repeating: 0, count: bytes)
    crypto_core_ristretto255_scalar_mul(&product, challenge, secret)
    var response = [UInt8](repeating: 0, count: bytes)
    crypto_core_ristretto255_scalar_sub(&response, nonce, product)
    return (evaluated, challenge + response)
  }

  /// Verifies an evaluation and computes the function's output of 64 bytes.
  ///
  /// - Parameters:
  ///   - input: The input that was blinded.
  ///   - blind: The scalar that blinded the input.
  ///   - evaluated: The evaluated element.
  ///   - proof: The proof of the evaluation.
  ///   - key: The public key that the evaluation must belong to.
  /// - Returns: `nil` if the proof is not valid.
  static func finalize(
    _ input: [UInt8], blind: [UInt8], evaluated: [UInt8], proof: [UInt8], key: [UInt8]
  ) -> [UInt8]? {
    guard let element = self.blind(input, by: blind),
      verify(proof, key: key, element: element, evaluated: evaluated)
    else { return nil }
    var inverse = [UInt8](repeating: 0, count: bytes)
    guard crypto_core_ristretto255_scalar_invert(&inverse, blind) == 0,
      let output = times(inverse, evaluated)
    else { return nil }
    return Array(SHA512.hash(data: sized(input) + sized(output) + Array("Finalize".utf8)))
  }

  /// Whether one secret links the key to the base point and the evaluated element to the element.
  private static func verify(
    _ proof: [UInt8], key: [UInt8], element: [UInt8], evaluated: [UInt8]
  ) -> Bool {
    guard proof.count == 2 * bytes else { return false }
    let challenge = Array(proof[..<bytes])
    let response = Array(proof[bytes...])
    let weight = weight(key, element, evaluated)
    guard let composite = times(weight, element), let evaluatedComposite = times(weight, evaluated),
      let base = publicKey(of: response),
      let first = sum(base, times(challenge, key)),
      let second = sum(times(response, composite), times(challenge, evaluatedComposite))
    else { return false }
    return challenge == self.challenge(key, composite, evaluatedComposite, first, second)
  }

  // MARK: Hashes

  /// The weight of the only element in the composites of the proof.
  private static func weight(_ key: [UInt8], _ element: [UInt8], _ evaluated: [UInt8]) -> [UInt8] {
    let domain = Array("Seed-".utf8) + context
    let seed = Array(SHA512.hash(data: sized(key) + sized(domain)))
    return scalar(
      of: sized(seed) + [0, 0] + sized(element) + sized(evaluated) + Array("Composite".utf8))
  }

  private static func challenge(_ parts: [UInt8]...) -> [UInt8] {
    scalar(of: parts.flatMap { sized($0) } + Array("Challenge".utf8))
  }

  private static func element(of input: [UInt8]) -> [UInt8] {
    var element = [UInt8](repeating: 0, count: bytes)
    crypto_core_ristretto255_from_hash(&element, expand(input, "HashToGroup-"))
    return element
  }

  private static func scalar(of input: [UInt8]) -> [UInt8] {
    var scalar = [UInt8](repeating: 0, count: bytes)
    crypto_core_ristretto255_scalar_reduce(&scalar, expand(input, "HashToScalar-"))
    return scalar
  }

  /// `expand_message_xmd` of RFC 9380 with SHA-512, for 64 bytes of output.
  private static func expand(_ input: [UInt8], _ purpose: String) -> [UInt8] {
    let domain = Array(purpose.utf8) + context
    let suffix = domain + [UInt8(domain.count)]
    let block = [UInt8](repeating: 0, count: SHA512.blockByteCount)
    let first = Array(SHA512.hash(data: block + input + [0, 64, 0] + suffix))
    return Array(SHA512.hash(data: first + [1] + suffix))
  }

  /// The bytes after their count in two bytes.
  private static func sized(_ part: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: part.count >> 8), UInt8(truncatingIfNeeded: part.count)] + part
  }

  // MARK: The group

  /// The product; `nil` for an invalid element, or if the product is the identity.
  private static func times(_ scalar: [UInt8], _ element: [UInt8]?) -> [UInt8]? {
    guard let element, scalar.count == bytes, element.count == bytes else { return nil }
    var product = [UInt8](repeating: 0, count: bytes)
    return crypto_scalarmult_ristretto255(&product, scalar, element) == 0 ? product : nil
  }

  private static func sum(_ a: [UInt8]?, _ b: [UInt8]?) -> [UInt8]? {
    guard let a, let b else { return nil }
    var sum = [UInt8](repeating: 0, count: bytes)
    return crypto_core_ristretto255_add(&sum, a, b) == 0 ? sum : nil
  }
}
