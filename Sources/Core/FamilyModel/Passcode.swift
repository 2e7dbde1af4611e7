/// The public part of the family's Screen Time passcode: enough to verify that a guardian typed it.
///
/// scrypt derives an Ed25519 key pair from the passcode; this value holds the public half. A
/// guardian who types the passcode signs with the private half, and the relay and every device
/// verify the signature. A device that does not know the passcode cannot approve in person. A
/// holder of this value can guess passcodes at scrypt's cost per guess, so a longer passcode is
/// safer.
public struct Passcode: Hashable, Sendable {
  /// 16 random bytes.
  public var salt: [UInt8]
  /// The base-two logarithm of scrypt's cost.
  public var logCost: UInt8
  /// The Ed25519 public key, 32 bytes.
  public var publicKey: [UInt8]
  /// Creates a passcode; the values are not checked.
  public init(salt: [UInt8], logCost: UInt8, publicKey: [UInt8]) {
    self.salt = salt
    self.logCost = logCost
    self.publicKey = publicKey
  }

  /// Checks the lengths and the cost.
  ///
  /// - Throws: `malformed`.
  public func validate() throws(Problem) {
    guard salt.count == 16, publicKey.count == 32, Limits.passcodeLogCost ~= logCost else {
      throw .malformed
    }
  }
}
