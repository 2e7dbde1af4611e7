import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// A relay that shows known commands with other contents, in a history with correct hashes.
@Suite struct AlteredHistoryTests {
  /// The log with altered events, and the hashes that continue it.
  private func altered(_ log: [Event], _ alter: (inout Event) -> Void) -> [Event] {
    var heads: [Audience: ChainHash] = [:]
    return log.map { event in
      var event = event
      alter(&event)
      event.hash = event.hash(
        after: heads[event.audience] ?? ChainHash(), in: SignedFamily.family,
        digest: KeyVault.digest)
      heads[event.audience] = event.hash
      return event
    }
  }

  /// A family after a withdrawal by device 2 and the removal of device 4.
  private func home() -> SignedFamily {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    home.guardian(2, SignedFamily.contact("ada", known: false))
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    return home
  }

  /// Expects that device 3 knows the removal and the withdrawal, now and after a start without the
  /// relay.
  private func expectUnchanged(_ home: inout SignedFamily, _ roster: Roster) {
    for _ in 1...2 {
      #expect(home.children[3]!.link.roster == roster && home.known() == [])
      home.disconnect(3)
      home.restore(3)
    }
  }

  @Test("T5: an altered event with the id of a known command replaces no record of it")
  func contents() {
    var home = home()
    let (roster, first) = (home.roster, home.log[0].body)
    let log = altered(home.log) { event in
      switch event.body {
      case .rosterChanged where event.seq > 1: event.body = first
      case .contactChanged(let child, _) where event.device == DeviceID(2):
        event.body = .contactChanged(child: child, .sealed([1, 2, 3]))
      default: break
      }
    }
    home.restoreRelay(log, connecting: [3])
    home.wait(.seconds(5))
    expectUnchanged(&home, roster)
  }

  @Test("T5: a known event with another signature, signer or time replaces no record of it")
  func signatures() {
    let alterations: [(inout Event) -> Void] = [
      { $0.signature?.bytes = Array(repeating: 5, count: 64) },
      { $0.signature = nil },
      { $0.at = Instant(milliseconds: 0) },
    ]
    for alteration in alterations {
      var home = home()
      let roster = home.roster
      let log = altered(home.log) { if $0.body.newQuestion == nil { alteration(&$0) } }
      home.restoreRelay(log, connecting: [3])
      home.wait(.seconds(5))
      expectUnchanged(&home, roster)
    }
  }

  /// The events in this order, with numbers and hashes that fit it.
  private func renumbered(_ log: [Event]) -> [Event] {
    var last: [Audience: UInt64] = [:]
    let numbered = log.enumerated().map { index, event in
      var event = event
      (event.seq, event.previous) = (UInt64(index + 1), last[event.audience] ?? 0)
      last[event.audience] = event.seq
      return event
    }
    return altered(numbered) { _ in }
  }

  @Test("T5: a removal at another position, which its signature does not fit, ends no copy of it")
  func edited() {
    var home = SignedFamily()
    #expect(home.change { $0.persons[0].displayName = "Rosalind" } == nil)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let (roster, log) = (home.roster, home.log)
    let isRoster = { (event: Event) in event.isRoster && event.seq > 1 }
    home.restoreRelay(
      renumbered(log.filter { !isRoster($0) } + log.filter(isRoster)), connecting: [3])
    home.wait(.seconds(5))
    #expect(home.children[3]!.link.roster == roster)
    home.disconnect(3)
    home.restore(3)
    #expect(home.children[3]!.link.roster == roster)
  }

  @Test("T5: a forged event with the id of a lost statement does not end its return")
  func lostStatement() {
    var home = SignedFamily()
    let copy = home.log
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let log = altered(home.log) { event in
      if case .contactChanged(let child, _) = event.body {
        event.body = .contactChanged(child: child, .sealed([1, 2, 3]))
      }
    }
    home.restoreRelay(log, connecting: [1])
    home.wait(.seconds(5))
    // The relay is honest again, and lost the statement.
    home.restoreRelay(copy, connecting: [1, 3])
    home.wait(.minutes(5))
    #expect(home.log.count(where: { $0.body.isContact }) == 1 && home.known() == ["ada"])
  }
}

extension Event.Body {
  fileprivate var isContact: Bool { if case .contactChanged = self { true } else { false } }
}
