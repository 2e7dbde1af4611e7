@testable import FamilyCore
import FamilyHarness
import FamilyModel
import FamilyTrust
import Testing

/// Invitations and requests to join, as devices verify them.
@Suite struct InvitationTrustTests {
  private let inviter = DeviceKeys()

  private func invitation(_ home: SignedFamily) -> Invitation {
    Invitation(
      key: inviter.signingKey, person: SignedFamily.emily, expires: home.now + .minutes(5))
  }

  private func join(_ device: UInt32, _ keys: DeviceKeys = DeviceKeys()) -> JoinRequest {
    var join = JoinRequest(
      invitation: inviter.signingKey, publicKey: Device.curveKey(device),
      signingKey: keys.signingKey, agreementKey: keys.agreementKey)
    join.proof = KeyVault(inviter).sign(join.signedBytes(family: SignedFamily.family))
    return join
  }

  /// A request that the relay states to have accepted at this moment.
  private func event(_ join: JoinRequest, at moment: Instant, _ home: SignedFamily) -> Event {
    var event = home.forged(.joinRequested(join), in: .family, by: 0)
    event.at = moment
    return event
  }

  @Test("T2: an invitation ends by the times of signed events, not by the relay's word alone")
  func end() {
    var home = SignedFamily()
    let invitation = invitation(home)
    home.guardian(1, .invite(invitation))
    #expect(home.guardians[2]!.link.isInvited(invitation.key))
    var inTime = home
    inTime.hand(event(join(5), at: home.now, home), to: 2)
    #expect(inTime.guardians[2]!.link.joins.count == 1)
    home.wait(.minutes(6))
    var stated = home
    stated.hand(event(join(5), at: home.now, home), to: 2)
    #expect(stated.guardians[2]!.link.joins.isEmpty)
    // A guardian signs an event after the end. The relay then states an earlier time.
    let other = Invitation(
      key: DeviceKeys().signingKey, person: SignedFamily.emily, expires: home.now + .minutes(5))
    home.guardian(1, .invite(other))
    #expect(!home.guardians[2]!.link.isInvited(invitation.key))
    home.hand(event(join(5), at: invitation.expires - .minutes(1), home), to: 2)
    #expect(home.guardians[2]!.link.joins.isEmpty)
    #expect(home.problems[2] == [.notSigned])
  }

  @Test("T2: a device accepts one request for an invitation, and forgets ended ones") func bounds()
  {
    var home = SignedFamily()
    home.guardian(1, .invite(invitation(home)))
    let first = event(join(5), at: home.now, home)
    home.hand(first, to: 2)
    var second = event(join(6), at: home.now, home)
    (second.seq, second.previous) = (first.seq + 1, first.seq)
    home.hand(second, to: 2)
    #expect(home.guardians[2]!.link.joins.count == 1)
    #expect(home.problems[2] == [.replayed])
    var known = KnownInvitations()
    for number in 0..<UInt8(Limits.invitations) + 4 {
      known.add(
        Invitation(
          key: .init(repeating: number, count: 32), person: PersonID(3),
          expires: Instant(milliseconds: Int64(number))))
    }
    #expect(known.count == Limits.invitations)
    known.advance(to: Instant(milliseconds: 10))
    #expect(!known.holds(.init(repeating: 9, count: 32)))
    #expect(known.holds(.init(repeating: 10, count: 32)))
    known.advance(to: Instant(milliseconds: 100))
    #expect(known.count == 0)
  }
}
