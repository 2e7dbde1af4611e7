import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Signatures that a removed guardian makes after the removal, with the relay's help.
@Suite struct RemovalTests {
  private static let emily = SignedFamily.emily

  /// A family whose first guardian removed the second after a question, with room for an insertion.
  private func removed() -> (home: SignedFamily, question: QuestionID) {
    var home = SignedFamily()
    let question = home.ask("ada")
    home.guardian(
      1, .invite(JoinTicket().invitation(for: PersonID(1), until: home.now + .minutes(9))))
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    return (home, question)
  }

  /// The removed guardian's approval, signed now and placed before the removal.
  private func backdated(_ home: SignedFamily, _ question: QuestionID) -> Event {
    let conversation = Audience.conversation(Self.emily)
    let decision = Event.Body.decided(
      Decision(question: question, choice: ChoiceHeader(id: "approve", answer: .approval)))
    let id = CommandID(high: UInt64(home.now.milliseconds + 60_000) << 16, low: 1)
    var event = home.forged(
      decision, by: 2, id: id,
      signature: home.sign(decision, id, as: 2, about: home.header(question)))
    event.previous = home.log.last { $0.audience == conversation }!.seq
    event.seq = event.previous + 1
    return event
  }

  @Test("T5: a device and an app reject what a removed guardian signs after the removal")
  func backdate() throws {
    var (home, question) = removed()
    let event = backdated(home, question)
    #expect(event.seq < home.log.last!.seq)
    home.hand(event, to: 3)
    #expect(home.problems[3] == [.notSigned] && home.known() == [])
    // A dishonest device shows the approval to the app.
    var honest = home
    honest.answer(question, "approve")
    #expect(honest.known() == ["ada"])
    let entry = try #require(honest.toldEntries.last)
    var forged = entry
    forged.evidence[0].event = event
    home.tell(.entry(forged), 3)
    #expect(home.appProblems[3] == [.notSigned] && home.known() == [])
  }

  @Test("T5: what a removed guardian signed before the removal still counts for a new device")
  func history() {
    var home = SignedFamily(connected: [1, 2, 3])
    let question = home.ask("ada")
    home.answer(question, "approve", by: 2)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    home.connect(4)
    #expect(home.known(4) == ["ada"] && home.problems == [:])
    home.restore(3)
    home.connect(3)
    #expect(home.known() == ["ada"] && home.problems == [:])
  }

  @Test("T5: the relay refuses a removal whose signer has not read what the removed device wrote")
  func unread() throws {
    var home = SignedFamily()
    var next = home.roster
    next.devices.removeAll { $0.id == DeviceID(2) }
    let question = home.ask("ada")
    let early = try home.machines.guardians[1]!.prepare(.setRoster(next), now: home.now)[0]
    home.answer(question, "approve", by: 2)
    let request = Request.command(early.id, early.command, early.signature)
    #expect(home.request(1, 100, request) == .stale)
    // The device to be removed cannot keep the guardian from reading.
    let text = try home.machines.guardians[2]!.prepare(
      .post(child: Self.emily, .text("wait")), now: home.now)[0]
    let refusal = home.request(2, 100, .command(text.id, text.command, text.signature))
    #expect(refusal?.code == Problem.tooFast(retryAfter: .zero).code)
    home.guardian(1, .setRoster(next))
    #expect(home.children[3]!.link.roster == next)
    for device: UInt32 in [3, 4] { #expect(home.known(device) == ["ada"]) }
    #expect(home.problems == [:])
  }

  @Test("T5: an event inserted before the heads of a removal is noticed")
  func insertion() {
    var home = SignedFamily(connected: [1, 2, 3])
    let question = home.ask("ada")
    home.disconnect(3)
    home.guardian(1, .post(child: Self.emily, "one"))
    home.guardian(1, .post(child: Self.emily, "two"))
    let removal = home.change { $0.devices.removeAll { $0.id == DeviceID(2) } }
    #expect(removal == nil)
    var event = backdated(home, question)
    event.previous = home.children[3]!.link.delivered(.conversation(Self.emily))
    event.seq = event.previous + 1
    // The relay shows the insertion in place of a message.
    home.tamper = { shown, device in
      device == 3 && shown.seq == event.seq ? [event] : [shown]
    }
    home.connect(3)
    #expect(home.problems[3]?.contains(.forked) ?? false)
  }
}
