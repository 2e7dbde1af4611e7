import Crypto
public import FamilyModel
import Foundation

/// The secret of an invitation: whoever has it can join once. It goes from a guardian's screen to the new
/// device, and nowhere else: the relay knows a public key that follows from it.
public struct JoinTicket: Sendable, CustomStringConvertible, CustomReflectable {
  /// Bytes of the secret.
  public static let count = 16
  /// The secret, for the code only.
  public let secret: [UInt8]
  private let key: Curve25519.Signing.PrivateKey

  /// A new random ticket.
  public init() {
    let bytes = SymmetricKey(size: .bits128).withUnsafeBytes { [UInt8]($0) }
    self.init(secret: bytes)!
  }

  /// The ticket of this secret; `nil` unless it has 16 bytes.
  public init?(secret: [UInt8]) {
    guard secret.count == Self.count else { return nil }
    self.secret = secret
    let seed = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Data("permission-relay ticket 1".utf8),
      outputByteCount: 32)
    // Every 32 bytes are a key.
    key = seed.withUnsafeBytes { try! Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
  }

  /// The invitation's key, which everybody in the family and the relay may know.
  public var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

  /// Lets the person's next device in, until the invitation expires.
  public func invitation(for person: PersonID, until expires: Instant) -> Invitation {
    Invitation(key: publicKey, person: person, expires: expires)
  }

  /// What a device with these keys sends to join the family.
  public func join(_ family: FamilyID, publicKey: [UInt8], keys: DeviceKeys) -> JoinRequest {
    var join = JoinRequest(
      invitation: self.publicKey, publicKey: publicKey, signingKey: keys.signingKey,
      agreementKey: keys.agreementKey)
    // It does not fail: the key is one.
    join.proof = Array(try! key.signature(for: join.signedBytes(family: family)))
    return join
  }

  public var description: String { "a ticket" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
