import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct InvitationTests {
  private func invite(
    _ number: UInt8, _ person: UInt32, _ home: RelayMachineFixture,
    lasting: Milliseconds = .minutes(1)
  )
    -> Command
  {
    .invite(
      Invitation(
        key: Array(repeating: number, count: 32), person: PersonID(person),
        expires: home.now + lasting))
  }

  @Test("F3: guardians invite devices; only the organizer invites an organizer's device") func who()
  {
    var home = RelayMachineFixture()
    #expect(home.command(30, invite(1, 3, home)) == .failure(.notPermitted))
    #expect(home.command(50, invite(1, 5, home)) == .failure(.notPermitted))
    #expect(home.command(0, invite(1, 3, home)) == .failure(.notPermitted))
    #expect(home.command(20, invite(1, 1, home)) == .failure(.notPermitted))
    #expect(home.command(20, invite(1, 9, home)) == .failure(.unknown))
    guard case .success = home.command(20, invite(1, 3, home)),
      case .success = home.command(10, invite(2, 1, home))
    else {
      Issue.record("a guardian could not invite")
      return
    }
    #expect(home.command(10, invite(2, 1, home)) == .failure(.conflict))
  }

  @Test("F3: bounds the number and the lifetime of invitations") func bounds() {
    var home = RelayMachineFixture()
    #expect(home.command(10, invite(1, 3, home, lasting: .zero)) == .failure(.expirationInThePast))
    let tooLong = invite(1, 3, home, lasting: Limits.invitationTime + .milliseconds(1))
    #expect(home.command(10, tooLong) == .failure(.tooLarge))
    for number in 1...UInt8(Limits.invitations) {
      guard case .success = home.command(10, invite(number, 3, home)) else {
        Issue.record("invitation \(number) was refused")
        return
      }
    }
    #expect(home.command(10, invite(99, 3, home)) == .failure(.tooMany))
    home.now = home.now + .milliseconds(60_001)
    guard case .success = home.command(10, invite(99, 3, home)) else {
      Issue.record("expired invitations count")
      return
    }
  }
}
