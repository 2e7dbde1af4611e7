import FamilyModel

extension FamilyState {
  /// Whether the Ed25519 signature of the message is valid under the public key.
  public typealias Verify =
    @Sendable (_ publicKey: [UInt8], _ signature: [UInt8], _ message: [UInt8]) -> Bool

  /// The relay's cryptography: functions of the shell, because the machine has none of its own.
  public struct Verifier: Sendable {
    private let verify: Verify
    let digest: @Sendable ([UInt8]) -> [UInt8]
    let passcodes: PasscodeEvaluator
    /// The storage that a decision may use. Every decision has the verifier.
    var quota = StorageQuota()
    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - verify: Verifies a signature.
    ///   - digest: The digest that devices sign. The default is the identity, for machines without
    ///     keys.
    ///   - passcodes: Evaluates passcodes. The default is the ideal function, for machines without
    ///     keys.
    public init(
      _ verify: @escaping Verify, digest: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 },
      passcodes: PasscodeEvaluator = .ideal
    ) {
      self.verify = verify
      self.digest = digest
      self.passcodes = passcodes
    }
    /// The digest of a content that a passcode's proof covers; empty for a content that is not
    /// sealed, in a family without keys.
    func digest(of content: Content) -> [UInt8] { content.proofDigest(digest) }
    func callAsFunction(_ key: [UInt8], _ signature: [UInt8], _ message: [UInt8]) -> Bool {
      verify(key, signature, message)
    }
  }
}
