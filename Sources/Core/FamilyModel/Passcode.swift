/// The public part of the family's Screen Time passcode: enough to verify that a guardian typed it.
///
/// An Ed25519 key pair is derived from the typed text and from a value that only the relay can
/// compute; this value holds the public half. A guardian who types the passcode signs with the
/// private half, and the relay and every device verify the signature. A holder of this value
/// cannot try passcodes alone: each attempt needs the relay, which counts the attempts.
public struct Passcode: Hashable, Sendable {
  /// 16 random bytes.
  public var salt: [UInt8]
  /// The base-two logarithm of scrypt's cost.
  public var logCost: UInt8
  /// The Ed25519 public key, 32 bytes.
  public var publicKey: [UInt8]
  /// The public key of the relay's evaluations, 32 bytes. Empty in the form of earlier versions,
  /// which attempts without the relay could find out.
  public var relayKey: [UInt8]
  /// Creates a passcode; the values are not checked.
  public init(salt: [UInt8], logCost: UInt8, publicKey: [UInt8], relayKey: [UInt8] = []) {
    self.salt = salt
    self.logCost = logCost
    self.publicKey = publicKey
    self.relayKey = relayKey
  }

  /// Whether the passcode has the form of earlier versions, which nothing accepts.
  public var isOutdated: Bool { relayKey.isEmpty }

  /// Checks the lengths and the cost. The form of earlier versions is valid.
  ///
  /// - Throws: `malformed`.
  public func validate() throws(Problem) {
    guard salt.count == 16, publicKey.count == 32, Limits.passcodeLogCost ~= logCost,
      isOutdated || relayKey.count == PasscodeEvaluation.elementBytes
    else { throw .malformed }
  }

  /// Checks the length of a typed passcode.
  ///
  /// - Throws: `badText`.
  public static func validate(typed: String) throws(Problem) {
    guard Limits.passcodeLength ~= typed.count, typed.utf8.count <= Limits.titleBytes else {
      throw .badText
    }
  }
}

/// A typed passcode, blinded for one evaluation by the relay.
public struct PasscodeAttempt: Hashable, Sendable {
  /// The passcode as typed. The passcode never leaves the device.
  public var typed: String
  /// The random number that blinds the element.
  public var blind: [UInt8]
  /// The blinded element, which the relay receives. The element reveals nothing about the passcode.
  public var element: [UInt8]
  /// Creates an attempt.
  public init(typed: String, blind: [UInt8], element: [UInt8]) {
    self.typed = typed
    self.blind = blind
    self.element = element
  }
}

extension PasscodeAttempt: CustomStringConvertible, CustomDebugStringConvertible {
  /// A text without the passcode, because logs and crash reports may contain it.
  public var description: String { "PasscodeAttempt" }
  /// As ``description``.
  public var debugDescription: String { description }
}

/// The relay's evaluation of a blinded passcode.
public struct PasscodeEvaluation: Hashable, Sendable {
  /// Bytes of an element and of a public key.
  public static let elementBytes = 32
  /// Bytes of a proof.
  public static let proofBytes = 64

  /// The evaluated element.
  public var element: [UInt8]
  /// The proof that the evaluation used the secret of ``relayKey``.
  public var proof: [UInt8]
  /// The public key of the secret that the relay used.
  public var relayKey: [UInt8]
  /// Creates an evaluation; the values are not checked.
  public init(element: [UInt8], proof: [UInt8], relayKey: [UInt8]) {
    self.element = element
    self.proof = proof
    self.relayKey = relayKey
  }
}
