import Crypto
public import FamilyModel
import Foundation

/// The secret of an invitation. Its holder can join once.
///
/// The join code carries the secret from a guardian's screen to the new device. The relay knows
/// only a public key that is derived from the secret.
public struct JoinTicket: Sendable, CustomStringConvertible, CustomReflectable {
  /// Bytes of the secret.
  public static let count = 16
  /// The secret, which only the join code contains.
  public let secret: [UInt8]
  private let key: Curve25519.Signing.PrivateKey

  /// Generates a random ticket.
  public init() {
    let bytes = SymmetricKey(size: .bits128).withUnsafeBytes { [UInt8]($0) }
    self.init(secret: bytes)!
  }

  /// Creates the ticket of this secret; `nil` unless it has 16 bytes.
  public init?(secret: [UInt8]) {
    guard secret.count == Self.count else { return nil }
    self.secret = secret
    let seed = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Data("permission-relay ticket 1".utf8),
      outputByteCount: 32)
    // Any 32 bytes are a valid key.
    key = seed.withUnsafeBytes { try! Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
  }

  /// The invitation's public key, which the family and the relay may know.
  public var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

  /// Creates an invitation for the person's next device.
  public func invitation(for person: PersonID, until expires: Instant) -> Invitation {
    Invitation(key: publicKey, person: person, expires: expires)
  }

  /// Creates the request with which a device with these keys joins the family.
  public func join(_ family: FamilyID, publicKey: [UInt8], keys: DeviceKeys) -> JoinRequest {
    var join = JoinRequest(
      invitation: self.publicKey, publicKey: publicKey, signingKey: keys.signingKey,
      agreementKey: keys.agreementKey)
    // Signing does not fail with a valid key.
    join.proof = Array(try! key.signature(for: join.signedBytes(family: family)))
    return join
  }

  public var description: String { "a ticket" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
