import FamilyHarness
import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// The rosters that a device shows to an app that was restarted.
@Suite struct AppRosterTests {
  private static let alex: UInt32 = 2

  /// A family with an approval of "ada" that has removed Alex's device. Emily asks about "eve".
  private func family() -> (home: SignedFamily, question: QuestionID) {
    var home = SignedFamily()
    home.answer(home.ask("ada"), "approve")
    let question = home.ask("eve")
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(Self.alex) } } == nil)
    #expect(home.known() == ["ada"] && home.appProblems == [:])
    return (home, question)
  }

  /// The next app entry: the device approves the question, and its evidence is an event that the
  /// signer signs now.
  private func approval(_ id: QuestionID, by signer: UInt32, _ home: SignedFamily) -> AppEntry {
    let body = Event.Body.decided(
      Decision(question: id, choice: ChoiceHeader(id: "approve", answer: .approval)))
    let command = CommandID(high: UInt64(home.now.milliseconds + 5) << 16, low: 3)
    let header = home.header(id)
    let signature = home.sign(body, command, as: signer, about: header)
    let event = home.forged(body, by: signer, id: command, signature: signature)
    var entry = home.approval(of: id, provenBy: event)
    entry.position = home.children[3]!.feeds[0].progress.head + 1
    return entry
  }

  /// Restarts the app. Its device then shows the app these rosters in place of its own.
  private func restart(_ home: inout SignedFamily, showing rosters: [RosterProof]) {
    var left = rosters
    home.tellApp = { reply, _ in
      guard case .roster = reply else { return [reply] }
      defer { left = [] }
      return left.map { .roster($0) }
    }
    home.startApp(on: 3)
  }

  @Test("T4, T9: a restarted app trusts no signer whom a roster removed that it has seen")
  func removed() {
    var (home, question) = family()
    let all = home.children[3]!.link.rosterProofs
    #expect(all.count == 2)
    restart(&home, showing: [all[0]])
    home.tell(.entry(approval(question, by: Self.alex, home)), 3)
    #expect(home.known() == ["ada"] && home.answers[3]?.count == 1)
    // The app reports the list once, and its device counts the report.
    #expect(home.appProblems[3] == [.forked] && home.reported[3] == [.forked])
    // The same holds for a reset, evidence without an entry, and the next process.
    home.tell(.reset(position: 99, known: [Handle("eve", .custom)]), 3)
    home.tell(.evidence(approval(question, by: Self.alex, home).evidence), 3)
    #expect(home.known() == ["ada"] && home.appProblems[3] == [.forked])
    restart(&home, showing: [])
    home.tell(.entry(approval(question, by: 1, home)), 3)
    #expect(home.known() == ["ada"] && home.appProblems[3] == [.forked, .forked])
    // The device shows its rosters again: the same signer is refused, and another one counts.
    restart(&home, showing: all)
    var forged = home
    forged.tell(.entry(approval(question, by: Self.alex, home)), 3)
    #expect(forged.known() == ["ada"])
    #expect(forged.appProblems[3] == [.forked, .forked, .notSigned])
    home.answer(question, "approve")
    #expect(home.known() == ["ada", "eve"] && home.appProblems[3] == [.forked, .forked])
  }

  @Test("T4, T9: a restarted app trusts no other roster in the place of one that it has seen")
  func other() {
    var home = SignedFamily()
    home.answer(home.ask("ada"), "approve")
    let question = home.ask("eve")
    // Rosa's device signs two rosters that follow the first one.
    var other = home
    #expect(other.change { $0.persons[1].displayName = "Alexander" } == nil)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(Self.alex) } } == nil)
    restart(&home, showing: other.children[3]!.link.rosterProofs)
    home.tell(.entry(approval(question, by: Self.alex, home)), 3)
    #expect(home.known() == ["ada"] && home.appProblems[3] == [.forked])
    // A longer list that lacks the roster proves as little.
    #expect(other.change { $0.persons[1].displayName = "Alex" } == nil)
    restart(&home, showing: other.children[3]!.link.rosterProofs)
    home.tell(.entry(approval(question, by: Self.alex, home)), 3)
    #expect(home.known() == ["ada"] && home.appProblems[3] == [.forked, .forked])
  }

  @Test("T4, T9: a restarted app trusts no list that leaves out a roster that it has seen")
  func skipped() {
    var (home, question) = family()
    #expect(home.change { $0.persons[0].displayName = "Rosalind" } == nil)
    let all = home.children[3]!.link.rosterProofs
    restart(&home, showing: [all[0], all[2]])
    // A position between the removal and the newest roster, which no signature covers.
    var entry = approval(question, by: Self.alex, home)
    entry.evidence[0].event.seq = all[2].seq - 1
    home.tell(.entry(entry), 3)
    #expect(home.known() == ["ada"] && home.appProblems[3] == [.replayed, .forked])
  }

  @Test("T9, X3: an app keeps its handles while its device reads the family's log again")
  func rereading() {
    var (home, question) = family()
    // The device lost its store. The app attaches before the device has read anything.
    home.disconnect(3)
    home.machines.disks[3] = [:]
    home.restore(3)
    #expect(home.known() == ["ada"] && home.appProblems[3] == [.forked])
    home.guardian(
      1, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: nil)))
    home.answer(question, "approve")
    home.connect(3)
    #expect(home.known() == ["eve"])
    #expect(home.appProblems[3] == [.forked] && home.children[3]!.unacknowledged == 0)
    // The same process continues with new rosters and entries.
    #expect(home.change { $0.persons[0].displayName = "Rosalind" } == nil)
    home.guardian(1, .changeContact(child: SignedFamily.emily, Handle("ben", .custom), known: true))
    home.startApp(on: 3)
    #expect(home.known() == ["ben", "eve"] && home.appProblems[3] == [.forked])
  }

  @Test("T9: an app that waits for a roster repeats its age request once the device has the roster")
  func ages() {
    var (home, _) = family()
    let all = home.children[3]!.link.rosterProofs
    restart(&home, showing: [all[0]])
    var app = home.apps[3]!
    _ = app.step(.askAge(8, gates: [16]))
    let sent = app.step(.reply(.roster(all[1])))
    guard sent.count == 2, case .send(.attach)? = sent.first,
      case .send(.age(8, gates: [16], _))? = sent.last
    else {
      Issue.record("\(sent)")
      return
    }
  }
}
