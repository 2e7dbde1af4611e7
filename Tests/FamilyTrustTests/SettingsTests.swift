import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// A child's settings on the devices of a family with keys.
@Suite struct SettingsTests {
  private static let emily = SignedFamily.emily
  private let bank = Site("bank.example")!

  private func rules(_ others: WebAccess = .ask, _ sites: [Site: WebAccess] = [:]) -> WebRules {
    var rules = WebRules()
    rules.others = others
    rules.sites = sites
    return rules
  }

  private func settings(_ home: SignedFamily) -> [ChildSettings] {
    (1...4).map { id in
      (home.children[id]?.link ?? home.guardians[id]!.link).settings(of: Self.emily)
    }
  }

  private func change(_ home: inout SignedFamily, _ guardian: UInt32, _ content: Content) {
    home.guardian(guardian, .changeSettings(Self.emily, content))
    home.wait(.seconds(2))
  }

  @Test(
    "S3, S5: a guardian's rules reach all devices, the last statement counts, and restarts keep it")
  func reach() {
    var home = SignedFamily()
    #expect(settings(home).allSatisfy { $0 == ChildSettings() })
    change(&home, 1, .webRules(rules(.block)))
    change(&home, 1, .communicationSafety(.simple))
    change(&home, 2, .webRules(rules(.ask, [bank: .allow])))
    for number in 1...10 { home.guardian(1, .post(child: Self.emily, "a\(number)")) }
    for _ in 0..<2 {
      for state in settings(home) {
        #expect(state.webRules == rules(.ask, [bank: .allow]))
        #expect(state.communicationSafety == .simple)
      }
      home.restartAll()
      home.restartAll()
      home.wait(.seconds(5))
    }
    #expect(home.startsFromSnapshots > 0 && home.problems == [:])
  }

  @Test("S5, X3: the relay carries no name of a site")
  func secret() {
    var home = SignedFamily()
    change(&home, 1, .webRules(rules(.ask, [bank: .allow])))
    #expect(settings(home)[2].webRules.access(to: bank) == .allow)
    let name = Array(bank.name.utf8)
    #expect(!home.frames.isEmpty && home.frames.allSatisfy { !$0.contains(name) })
  }

  @Test("S3: a child's device changes no setting without the passcode, whatever the relay accepts")
  func child() {
    var home = SignedFamily()
    change(&home, 1, .webRules(rules(.block)))
    let body = Event.Body.settingsChanged(Self.emily, .webRules(rules(.allow)), proof: [])
    let audience = Audience.account(Self.emily)
    #expect(!home.roster.mayDecide(body, in: .conversation(Self.emily), home.roster.persons[0]))
    #expect(home.roster.mayDecide(body, in: audience, home.roster.persons[0]))
    let before = settings(home)
    // The proof is verified before the content is opened.
    let content = Content.sealed([1, 2, 3])
    for proof in [[], [UInt8](repeating: 1, count: 64)] {
      let id = CommandID(
        high: UInt64(home.now.milliseconds) << 16, low: UInt64(home.log.count) << 8 | 9)
      let forged = Event.Body.settingsChanged(Self.emily, content, proof: proof)
      let signature = home.sign(forged, id, audience, as: 3, basedOnSeq: home.rosterSeq)
      let command = Command.changeSettings(Self.emily, content, proof: proof)
      #expect(home.request(3, 1, .command(id, command, signature)) == .noPasscode)
      home.storeUnchecked(home.forged(forged, in: audience, by: 3, id: id, signature: signature))
      home.wait(.seconds(2))
    }
    #expect(settings(home) == before)
    for id: UInt32 in 1...4 { #expect(home.problems[id]?.contains(.noProof) == true) }
  }

  @Test("S3, X2: a relay that lost a setting receives the newest one again")
  func givenBack() {
    var home = SignedFamily()
    change(&home, 1, .webRules(rules(.allow)))
    let copy = home.log
    change(&home, 1, .webRules(rules(.block)))
    change(&home, 1, .webRules(rules(.ask)))
    home.restoreRelay(copy, connecting: [1, 2, 3, 4])
    home.wait(.minutes(30))
    #expect(settings(home).allSatisfy { $0.webRules == rules(.ask) })
    home.restartAll()
    home.wait(.minutes(5))
    #expect(settings(home).allSatisfy { $0.webRules == rules(.ask) })
  }
}
