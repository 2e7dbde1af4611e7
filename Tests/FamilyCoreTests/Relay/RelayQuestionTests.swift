import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct RelayQuestionTests {
  var home = RelayMachineFixture()
  let child = PersonID(3)

  @Test("R3: the first decision wins") mutating func firstAnswerWins() {
    #expect(home.ask(RelayMachineFixture.question(1)) == .success(2))
    #expect(home.command(20, RelayMachineFixture.answer(1, "decline")) == .success(3))
    #expect(home.command(10, RelayMachineFixture.answer(1)) == .failure(.alreadyAnswered))
    guard case .decided(let decision) = home.log.last?.body else {
      Issue.record("no decision")
      return
    }
    #expect(decision.choice == ChoiceHeader(id: "decline", answer: .denial))
    #expect(home.log.count == 3)
  }

  @Test("R4: broadcasts a decision to the whole conversation") mutating func decisionIsBroadcast() {
    _ = home.ask(RelayMachineFixture.question(1))
    let effects = home.send(10, .command(CommandID(high: 5, low: 5), RelayMachineFixture.answer(1)))
    guard effects.count == 3, case .append(RelayMachineFixture.id, let event) = effects[0],
      case .broadcast(RelayMachineFixture.id, 0, .conversation(child), .event(event)) = effects[2]
    else {
      Issue.record("\(effects)")
      return
    }
    #expect(event.audience == .conversation(child) && event.previous == 2 && event.seq == 3)
  }

  @Test("O4: a question that expired a day ago keeps no header, and refuses decisions as before")
  mutating func longExpired() throws {
    let end = home.now + .seconds(1)
    for number: UInt64 in 1...100 {
      _ = home.ask(RelayMachineFixture.question(number, expiration: end))
    }
    let cancelled = RelayMachineFixture.question(1)
    #expect(home.command(30, .cancel(cancelled.id)) == .success(102))
    home.now = end + .days(1)
    _ = home.ask(RelayMachineFixture.question(101))
    var state = try #require(home.relay.state(of: RelayMachineFixture.id))
    #expect(state.questions.entries.count == 100)
    home.now = home.now + .milliseconds(1)
    _ = home.ask(RelayMachineFixture.question(102))
    state = try #require(home.relay.state(of: RelayMachineFixture.id))
    #expect(state.questions.entries.count == 2 && state.closed.entries.count == 100)
    #expect(home.command(10, RelayMachineFixture.answer(2)) == .failure(.expired))
    #expect(home.command(30, .cancel(RelayMachineFixture.question(2).id)) == .failure(.expired))
    #expect(home.command(30, .remind(RelayMachineFixture.question(2).id)) == .failure(.expired))
    #expect(home.command(10, RelayMachineFixture.answer(1)) == .failure(.cancelled))
    // The same question again is a repetition, and another one of its id a conflict.
    #expect(home.ask(RelayMachineFixture.question(2, expiration: end)) == .success(3))
    #expect(home.ask(RelayMachineFixture.question(2)) == .failure(.conflict))
    #expect(home.command(10, RelayMachineFixture.answer(102)) == .success(105))
  }

  @Test("R8: refuses an answer after the expiration, accepts one at the expiration")
  mutating func expiration() {
    let end = home.now + .seconds(1)
    _ = home.ask(RelayMachineFixture.question(1, expiration: end))
    _ = home.ask(RelayMachineFixture.question(2, expiration: end))
    home.now = end
    #expect(home.command(10, RelayMachineFixture.answer(1)) == .success(4))
    home.now = end + .milliseconds(1)
    #expect(home.command(10, RelayMachineFixture.answer(2)) == .failure(.expired))
    #expect(home.command(30, .cancel(RelayMachineFixture.question(2).id)) == .failure(.expired))
  }

  @Test("R8: refuses an answer to a cancelled question") mutating func cancelled() {
    _ = home.ask(RelayMachineFixture.question(1))
    #expect(
      home.command(40, .cancel(RelayMachineFixture.question(1).id)) == .failure(.notPermitted))
    #expect(home.command(31, .cancel(RelayMachineFixture.question(1).id)) == .success(3))
    #expect(home.command(10, RelayMachineFixture.answer(1)) == .failure(.cancelled))
    #expect(home.command(30, .cancel(RelayMachineFixture.question(1).id)) == .failure(.cancelled))
  }

  @Test("R3: an answer needs a known question, one of its choices and a guardian")
  mutating func unknown() {
    _ = home.ask(RelayMachineFixture.question(1))
    #expect(home.command(10, RelayMachineFixture.answer(2)) == .failure(.unknown))
    #expect(home.command(10, RelayMachineFixture.answer(1, "maybe")) == .failure(.unknown))
    for other: UInt32 in [30, 40, 50, 0] {
      #expect(home.command(other, RelayMachineFixture.answer(1)) == .failure(.notPermitted))
    }
    #expect(home.command(10, RelayMachineFixture.answer(1)) == .success(3))
  }

  @Test("A6: refuses a question about the same people while one is open")
  mutating func alreadyAsked() {
    let people: [UInt8] = [7, 7, 7]
    let end = home.now + .seconds(1)
    _ = home.ask(RelayMachineFixture.question(1, about: people, expiration: end))
    #expect(home.ask(RelayMachineFixture.question(2, about: people)) == .failure(.alreadyAsked))
    #expect(
      home.ask(RelayMachineFixture.question(3, about: people, app: "example.other")) == .success(3))
    #expect(home.ask(40, RelayMachineFixture.question(4, child: 4, about: people)) == .success(4))
    home.now = end + .milliseconds(1)
    #expect(home.ask(RelayMachineFixture.question(5, about: people)) == .success(5))
    _ = home.command(10, RelayMachineFixture.answer(5))
    #expect(home.ask(RelayMachineFixture.question(6, about: people)) == .success(7))
    _ = home.command(30, .cancel(RelayMachineFixture.question(6).id))
    #expect(home.ask(RelayMachineFixture.question(7, about: people)) == .success(9))
  }

  @Test("A6: accepts one reminder per interval") mutating func remind() {
    let remind = Command.remind(RelayMachineFixture.question(1).id)
    _ = home.ask(RelayMachineFixture.question(1))
    #expect(home.command(30, remind) == .failure(.remindedRecently))
    home.now = home.now + Limits.reminderInterval
    #expect(home.command(40, remind) == .failure(.notPermitted))
    #expect(home.command(31, remind) == .success(3))
    #expect(home.command(30, remind) == .failure(.remindedRecently))
    home.now = home.now + Limits.reminderInterval
    #expect(home.command(30, remind) == .success(4))
    _ = home.command(10, RelayMachineFixture.answer(1))
    #expect(home.command(30, remind) == .failure(.alreadyAnswered))
  }

  @Test("Q8, F6: only a guardian turns limits off, and the relay leaves their effect to devices")
  mutating func limits() {
    let off = Command.setLimits(child: child, on: false)
    #expect(home.command(30, off) == .failure(.notPermitted))
    #expect(home.command(50, off) == .failure(.notPermitted))
    #expect(home.command(10, .setLimits(child: PersonID(5), on: false)) == .failure(.unknown))
    #expect(home.command(20, off) == .success(2))
    #expect(home.ask(RelayMachineFixture.question(1)) == .success(3))
    #expect(home.command(0, .setLimits(child: child, on: true)) == .success(4))
  }

  @Test("Q9: only a child asks, and only for themselves") mutating func onlyChildren() {
    for adult: UInt32 in [10, 20, 50, 0] {
      #expect(home.ask(adult, RelayMachineFixture.question(1)) == .failure(.notAChild))
    }
    #expect(home.ask(40, RelayMachineFixture.question(1)) == .failure(.notPermitted))
  }

  @Test("Q10: refuses invalid question headers") mutating func badHeaders() {
    var header = RelayMachineFixture.question(1)
    header.choices = []
    #expect(home.ask(header) == .failure(.badChoices))
    header.choices = Array(repeating: ChoiceHeader(id: "a", answer: .denial), count: 2)
    #expect(home.ask(header) == .failure(.badChoices))
    #expect(
      home.ask(RelayMachineFixture.question(1, expiration: home.now))
        == .failure(.expirationInThePast))
    header = RelayMachineFixture.question(1)
    header.subjects = Array(repeating: 0, count: 65)
    #expect(home.ask(header) == .failure(.tooLarge))
    let large = Content.sealed(Array(repeating: 0, count: Limits.contentBytes + 1))
    #expect(home.command(30, .ask(RelayMachineFixture.question(1), large)) == .failure(.tooLarge))
    #expect(home.command(30, .post(child: child, large)) == .failure(.tooLarge))
    #expect(home.log.count == 1)
  }

  @Test("Q10: bounds a child's open questions") mutating func tooMany() {
    for id in 1...UInt64(Limits.openQuestions) {
      let people = [UInt8(id & 255), UInt8(id >> 8)]
      #expect(home.ask(RelayMachineFixture.question(id, about: people)) == .success(id + 1))
    }
    #expect(home.ask(RelayMachineFixture.question(999, about: [9, 9, 9])) == .failure(.tooMany))
    _ = home.command(10, RelayMachineFixture.answer(1))
    #expect(
      home.ask(RelayMachineFixture.question(999, about: [9, 9, 9]))
        == .success(UInt64(home.log.count)))
  }

  @Test("A3: a repeated command always gets the first result, also after a restart")
  mutating func repeated() {
    let id = CommandID(high: 4, low: 4)
    let ask = Command.ask(RelayMachineFixture.question(1), .sealed([1]))
    #expect(home.command(30, ask, id: id) == .success(2))
    #expect(home.command(10, RelayMachineFixture.answer(1)) == .success(3))
    #expect(home.command(30, ask, id: id) == .success(2))
    home.relay.evict(RelayMachineFixture.id)
    home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    #expect(home.command(30, ask, id: id) == .success(2))
    #expect(home.log.count == 3)
  }

  @Test(
    "A3: an equal question under another command id is a repetition; other content is a conflict")
  mutating func sameQuestion() {
    #expect(home.ask(RelayMachineFixture.question(1)) == .success(2))
    #expect(home.ask(31, RelayMachineFixture.question(1)) == .success(2))
    #expect(home.ask(RelayMachineFixture.question(1, app: "example.other")) == .failure(.conflict))
    #expect(home.ask(10, RelayMachineFixture.question(1)) == .failure(.notAChild))
    #expect(home.log.count == 2)
  }

  @Test(
    "A3: refuses a copy of a refused command with the same problem")
  mutating func refusedAlike() {
    let id = CommandID(high: 4, low: 5)
    let people: [UInt8] = [7]
    let ask = Command.ask(RelayMachineFixture.question(1, about: people), .sealed([1]))
    #expect(home.ask(RelayMachineFixture.question(2, about: people)) == .success(2))
    #expect(home.command(30, ask, id: id) == .failure(.alreadyAsked))
    #expect(home.command(10, RelayMachineFixture.answer(2)) == .success(3))
    #expect(home.command(30, ask, id: id) == .failure(.alreadyAsked))
    // Another command id, and another device with the same id, are new commands.
    #expect(home.command(30, ask) == .success(4))
    #expect(home.command(31, .post(child: child, .sealed([1])), id: id) == .success(5))
  }

  @Test("A3: the refusal cache is bounded and holds no refusal that allows a retry")
  func refusals() {
    var refusals = RefusalCache()
    func id(_ number: Int) -> CommandID { CommandID(high: 1, low: UInt64(number)) }
    for number in 0...RefusalCache.capacity { refusals.add(id(number), by: DeviceID(1), .expired) }
    #expect(refusals.find(id(0), by: DeviceID(1)) == nil)
    #expect(refusals.find(id(1), by: DeviceID(1)) == .expired)
    for problem in [
      Problem.stale, .overloaded, .tooFast(retryAfter: .milliseconds(1)), .storeFailed,
    ] {
      refusals.add(id(999), by: DeviceID(1), problem)
      #expect(refusals.find(id(999), by: DeviceID(1)) == nil)
    }
  }
}
