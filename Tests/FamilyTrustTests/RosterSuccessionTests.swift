import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// A roster is a change of the roster before it: its signer knew that roster.
@Suite struct RosterSuccessionTests {
  /// A family in which Alex signs a roster while Rosa's is accepted. Alex's device has not read hers.
  private func concurrent() throws -> (home: SignedFamily, late: SignedCommand, roster: Roster) {
    var home = SignedFamily()
    home.disconnect(2)
    #expect(
      home.change {
        $0.persons.append(Person(id: PersonID(8), role: .adult, displayName: "Nora"))
      } == nil)
    let roster = home.guardians[2]!.link.roster(adding: "Ben", as: .guardian)
    let late = try home.machines.guardians[2]!.prepare(.setRoster(roster), now: home.now)[0]
    return (home, late, roster)
  }

  @Test("T4: relay and devices refuse a roster that was signed on an older one")
  func older() throws {
    var (home, late, roster) = try concurrent()
    let signature = try #require(late.signature)
    #expect(home.request(2, 90, .command(late.id, late.command, signature)) == .stale)
    // A dishonest relay publishes the roster nevertheless.
    let event = home.forged(
      .rosterChanged(roster), in: .family, by: 2, id: late.id, signature: signature)
    for device: UInt32 in [1, 3] { home.hand(event, to: device) }
    #expect(home.problems[1] == [.notSigned] && home.problems[3] == [.notSigned])
    for link in [home.guardians[1]!.link, home.children[3]!.link] {
      #expect(link.roster == home.roster)
    }
  }

  @Test("T4: a signer whom the relay showed another history of the same length does not count")
  func otherHistory() throws {
    var (home, _, roster) = try concurrent()
    // Alex's device knew another event at the position of Rosa's roster.
    let id = CommandID(high: UInt64(home.now.milliseconds + 1) << 16, low: 5)
    let other = ChainHash(first: ID128(high: 1, low: 1), second: ID128(high: 1, low: 1))
    let known = Knowledge(
      family: ChainPosition(seq: UInt64(home.log.count), hash: other),
      roster: home.digestOfRoster())
    let body = Event.Body.rosterChanged(roster)
    let signature = home.sign(body, id, .family, as: 2, knowing: known)
    #expect(home.request(2, 90, .command(id, .setRoster(roster), signature)) == .forked)
    home.hand(
      home.forged(body, in: .family, by: 2, id: id, signature: signature), to: 3)
    #expect(home.problems[3] == [.forked])
    #expect(home.children[3]!.link.roster == home.roster)
  }

  @Test("T4: the device merges its change into the roster of the moment, and signs again")
  func merged() throws {
    var (home, _, roster) = try concurrent()
    home.guardian(2, .setRoster(roster))
    home.connect(2)
    home.wait(.seconds(10))
    let present = try #require(home.relay.state(of: SignedFamily.family)?.roster)
    #expect(present.persons.map(\.displayName) == ["Rosa", "Alex", "Emily", "Nora", "Ben"])
    #expect(home.children[3]!.link.roster == present && home.problems == [:])
  }
}
