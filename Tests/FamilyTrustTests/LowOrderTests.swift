import FamilyModel
import Testing

@testable import FamilyCore
@testable import FamilyTrust

/// Public keys of low order, with which a member could open its audiences to everyone.
@Suite struct LowOrderTests {
  /// All encodings without the highest bit, as hexadecimal numbers.
  private static let agreement =
    common + [
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ]
  private static let signing =
    common + [
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ]
  private static let common = [
    String(repeating: "00", count: 32), "01" + String(repeating: "00", count: 31),
    "ec" + String(repeating: "ff", count: 30) + "7f",
    "ed" + String(repeating: "ff", count: 30) + "7f",
    "ee" + String(repeating: "ff", count: 30) + "7f",
  ]

  /// Both encodings of a point: with and without the highest bit.
  private func keys(_ hexadecimal: String) -> [[UInt8]] {
    let digits = Array(hexadecimal)
    let key = stride(from: 0, to: 64, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
    return [key, key.dropLast() + [key[31] | 0x80]]
  }

  @Test(
    "T6: no content key is sealed for, or accepted from, a key of low order",
    arguments: LowOrderTests.agreement)
  func sealing(_ point: String) {
    let keys = DeviceKeys()
    let vault = KeyVault(keys)
    let secret = vault.makeKey()
    for key in self.keys(point) {
      #expect(vault.wrap(secret, for: key, binding: []) == nil)
      // The sender's half of the exchange is of low order, so that everyone knows the secret.
      #expect(vault.unwrap(key + Array(repeating: 0, count: 48), binding: []) == nil)
      #expect(LowOrder.isAgreementKey(key))
    }
    #expect(!LowOrder.isAgreementKey(keys.agreementKey) && !LowOrder.isSigningKey(keys.signingKey))
  }

  @Test("T6: no signature verifies under a key of low order", arguments: LowOrderTests.signing)
  func verifying(_ point: String) {
    for key in keys(point) {
      // The signature R = identity, S = 0 holds under such keys for some or for all messages.
      let signature = [1] + [UInt8](repeating: 0, count: 63)
      for message in 0..<16 as Range<UInt8> {
        #expect(!KeyVault.verify(key, signature, [message]))
      }
      #expect(LowOrder.isSigningKey(key))
    }
  }

  @Test("T6: a roster, a join request and an invitation with a key of low order are refused")
  func entry() throws {
    let weak = [UInt8](repeating: 0, count: 32)
    let (good, home) = (DeviceKeys(), SignedFamily())
    let device = Device(
      id: DeviceID(5), person: PersonID(3), publicKey: Device.curveKey(5), keys: good)
    let changes: [(inout Device) -> Void] = [
      { $0.agreementKey = weak }, { $0.signingKey = weak }, { $0.publicKey = weak },
    ]
    for change in changes {
      var home = home
      var bad = device
      change(&bad)
      #expect(home.change { $0.devices.append(bad) } == .weakKey)
    }
    var copy = home
    let inviter = DeviceKeys()
    let invitation = Invitation(
      key: weak, person: PersonID(3), expires: home.now + .minutes(5))
    copy.guardian(1, .invite(invitation))
    #expect(!copy.guardians[1]!.link.isInvited(weak))
    var real = invitation
    real.key = inviter.signingKey
    copy.guardian(1, .invite(real))
    #expect(copy.guardians[1]!.link.isInvited(inviter.signingKey))
    for keys in [(weak, good.agreementKey), (good.signingKey, weak)] {
      var join = JoinRequest(
        invitation: inviter.signingKey, publicKey: Device.curveKey(5), signingKey: keys.0,
        agreementKey: keys.1)
      join.proof = KeyVault(inviter).sign(join.signedBytes(family: SignedFamily.family))
      #expect(join.hasWeakKey)
      copy.request(5, 1, .join(join))
      #expect(copy.guardians[1]!.link.joins.isEmpty)
    }
  }
}
