import FamilyCore
import FamilyModel

/// Statements about children, and accounts and age settings of anybody.
extension World {
  func state(_ attack: MemberAttack, _ identity: Identity) {
    let member = member!
    let child = drawChild(identity)
    let handle = member.random.pick(Scenario.handles)
    switch attack {
    case .withdrawal:
      let what: Withdrawal = member.random.pick([
        .handle(handle, in: nil), .handle(handle, in: Scenario.apps[0]),
        .consent(Scenario.apps[0]), .consentGiven(Scenario.apps[0]),
      ])
      submit(.withdraw(child: child, .withdrawal(what)), identity)
    case .contact:
      submit(
        .changeContact(
          child: child,
          member.random.chance(15)
            ? .contactName(handle, "Name") : .contact(handle, known: member.random.chance(60))),
        identity)
    case .limits: submit(.setLimits(child: child, on: member.random.chance(50)), identity)
    case .post: submit(.post(child: child, .text("x")), identity)
    case .account:
      let person = member.person(of: identity).map(\.id) ?? child
      let day = Account.Day(year: 2000 + Int32(member.random.below(24)), month: 11, day: 25)
      submit(
        .setAccount(
          member.random.chance(50) ? person : drawPerson(),
          .account(Account(birthdate: day, region: "US", declaration: .confirmed))),
        identity)
    case .ages:
      let person = member.person(of: identity).map(\.id) ?? child
      var settings = AgeSettings()
      settings.sharing = member.random.pick(AgeSharing.allCases)
      submit(
        .setAge(
          member.random.chance(60) ? person : drawPerson(), .ageSettings(settings), proof: []),
        identity)
    default: break
    }
  }
}
