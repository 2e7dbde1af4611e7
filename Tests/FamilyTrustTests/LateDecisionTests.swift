import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Decisions that a guardian's device signs after the question's expiration.
@Suite struct LateDecisionTests {
  /// Emily's question about Ada, which expires after five minutes.
  private func ask(_ home: inout SignedFamily) -> QuestionID {
    let id = QuestionID(high: 78, low: 1)
    let question = Question(
      id: id,
      topic: .communication(
        people: [Subject(handle: Handle("ada", .custom))], actions: .message),
      defaultChoice: .decline, expiration: home.now + .minutes(5))
    home.app(3, .ask(question, .byMessage))
    home.child(3, .answered(prompt: 1, .send(names: [])))
    return id
  }

  /// An approval that Rosa's device signed the given time after the question.
  private func approval(
    of question: QuestionID, after delay: Milliseconds, by author: UInt32 = 1, _ home: SignedFamily
  ) -> Event {
    let body = Event.Body.decided(
      Decision(question: question, choice: ChoiceHeader(id: "approve", answer: .approval)))
    let id = CommandID(high: UInt64((home.now + delay).milliseconds) << 16, low: 5)
    return home.forged(
      body, by: author, id: id,
      signature: home.sign(body, id, about: home.header(question)))
  }

  @Test("R10: a device rejects a decision that was signed after the question's expiration")
  func device() {
    var home = SignedFamily()
    let question = ask(&home)
    // The relay claims that the decision arrived in time.
    let late = approval(of: question, after: .minutes(5) + .milliseconds(1), home)
    var other = home
    home.hand(late, to: 3)
    #expect(home.problems[3] == [.expired] && home.known() == [])
    other.hand(approval(of: question, after: .minutes(5), other), to: 3)
    #expect(other.problems == [:] && other.known() == ["ada"])
  }

  @Test("R10: an app rejects a decision that was signed after the question's expiration")
  func app() {
    var home = SignedFamily()
    let question = ask(&home)
    let late = approval(of: question, after: .minutes(5) + .milliseconds(1), home)
    home.answer(question, "approve")
    let trust = AppTrustTests()
    var entry = trust.entry(question, home)
    home.startApp(on: 3)
    entry.evidence[0].event = late
    #expect(trust.tell(entry, home).problems == [.expired])
  }

  @Test("R10: the relay refuses a decision that was signed after the question's expiration")
  func relay() {
    var home = SignedFamily()
    let question = ask(&home)
    let late = approval(of: question, after: .minutes(5) + .milliseconds(1), home)
    #expect(
      home.request(
        1, 1, .command(late.command, .answer(question, choice: "approve"), late.signature))
        == .expired)
  }

  @Test("R10, T7: the author of a decision is its signer, whatever the relay claims")
  func author() {
    var home = SignedFamily()
    let question = ask(&home)
    home.hand(approval(of: question, after: .minutes(1), by: 0, home), to: 3)
    let state = home.children[3]!.link.question(question)
    guard case .answered(_, by: DeviceID(1), _) = state?.phase else {
      Issue.record("\(String(describing: state?.phase))")
      return
    }
    #expect(home.known() == ["ada"] && home.appProblems == [:])
  }

  @Test("T7: the time of an answer and of a text is their signer's, whatever the relay claims")
  func time() {
    var home = SignedFamily()
    let question = ask(&home)
    let now = home.now
    home.tamper = { event, _ in
      var event = event
      event.at = event.at + .hours(3)
      return [event]
    }
    var other = home
    home.answer(question, "approve")
    guard
      case .answered(_, _, let time)? = home.children[3]!.conversation!.questions[question]?.phase
    else {
      Issue.record("no answer")
      return
    }
    #expect(time < now + .minutes(1))
    #expect(home.children[3]!.conversation!.lines.last!.at < now + .minutes(1))
    other.guardian(1, .post(child: SignedFamily.emily, "hello"))
    #expect(other.children[3]!.conversation!.lines.count == 2)
    #expect(other.children[3]!.conversation!.lines.last!.at < now + .minutes(1))
  }
}
