import FamilyModel
import Foundation

extension Invitation {
  var wire: PBInvitation {
    .with {
      $0.key = Data(key)
      $0.person = person.rawValue
      $0.expires = expires.milliseconds
    }
  }

  init(_ wire: PBInvitation) throws(Problem) {
    self.init(
      key: try keyBytes(wire.key), person: PersonID(wire.person),
      expires: try Wire.time(wire.expires))
  }
}

extension JoinRequest {
  var wire: PBJoinRequest {
    .with {
      $0.invitation = Data(invitation)
      $0.publicKey = Data(publicKey)
      $0.signingKey = Data(signingKey)
      $0.agreementKey = Data(agreementKey)
      $0.proof = Data(proof)
    }
  }

  init(_ wire: PBJoinRequest) throws(Problem) {
    self.init(
      invitation: try keyBytes(wire.invitation), publicKey: try keyBytes(wire.publicKey),
      signingKey: try keyBytes(wire.signingKey),
      agreementKey: try keyBytes(wire.agreementKey),
      proof: try Wire.signatureBytes(wire.proof))
  }
}

/// Checks the size of a public key: CURVE, Ed25519 and X25519 keys have 32 bytes.
private func keyBytes(_ bytes: Data) throws(Problem) -> [UInt8] {
  guard bytes.count == 32 else { throw .malformed }
  return [UInt8](bytes)
}
