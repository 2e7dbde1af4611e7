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
      key: try publicKeyOf(wire.key), person: PersonID(wire.person),
      expires: Instant(milliseconds: wire.expires))
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
      invitation: try publicKeyOf(wire.invitation), publicKey: try publicKeyOf(wire.publicKey),
      signingKey: try publicKeyOf(wire.signingKey),
      agreementKey: try publicKeyOf(wire.agreementKey),
      proof: try Wire.proof(wire.proof))
  }
}

/// All public keys have 32 bytes.
private func publicKeyOf(_ bytes: Data) throws(Problem) -> [UInt8] {
  guard bytes.count == 32 else { throw .malformed }
  return [UInt8](bytes)
}
