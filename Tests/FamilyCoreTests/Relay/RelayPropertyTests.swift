import FamilyModel
import TestThreads
import Testing

@testable import FamilyCore

/// Invariants after each of a random sequence of commands by random devices.
@Suite(.ownThread) struct RelayPropertyTests {
  @Test(
    "M3, R3, X2: random histories keep chains, replay to equal states, and decide once",
    arguments: 1...40)
  func random(seed: UInt64) throws {
    var home = RelayMachineFixture()
    var source = IDSource(seed: seed)
    var sent: [(UInt32, CommandID, Command, UInt64)] = []
    for number in 0..<400 {
      home.now = home.now + .milliseconds(source.next() % 200_000)
      let device = [UInt32(0), 10, 11, 20, 30, 31, 40, 50][Int(source.next() % 8)]
      let id = CommandID(high: 3, low: UInt64(number))
      let command = command(&source, now: home.now)
      if case .success(let seq) = home.command(device, command, id: id) {
        sent.append((device, id, command, seq))
      }
      if source.next() % 20 == 0 {
        home.relay.evict(RelayMachineFixture.id)
        home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
      }
      if let (device, id, command, seq) = sent.randomElement(&source),
        home.relay.state(of: RelayMachineFixture.id)?.roster.device(DeviceID(device)) != nil
          || device == 0
      {
        #expect(home.command(device, command, id: id) == .success(seq), "seed \(seed)")
      }
      if source.next() % 10 == 0 { _ = home.relay.step(.timer, now: home.now) }
    }
    check(home, seed)
  }

  private func check(_ home: RelayMachineFixture, _ seed: UInt64) {
    var heads: [Audience: UInt64] = [:]
    var decided: Set<QuestionID> = []
    var state = FamilyState()
    for (index, event) in home.log.enumerated() {
      #expect(event.seq == UInt64(index) + 1, "seed \(seed)")
      #expect(event.previous == heads[event.audience] ?? 0, "seed \(seed)")
      heads[event.audience] = event.seq
      if case .decided(let decision) = event.body {
        #expect(decided.insert(decision.question).inserted, "seed \(seed)")
      }
      state.apply(event)
    }
    #expect(state == home.relay.state(of: RelayMachineFixture.id), "seed \(seed)")
    #expect(Set(home.log.map(\.command)).count == home.log.count, "seed \(seed)")
  }

  private func command(_ source: inout IDSource, now: Instant) -> Command {
    let number = source.next() % 12
    let child = PersonID(UInt32(3 + source.next() % 2))
    let question = RelayMachineFixture.question(
      number, child: child.rawValue, about: [UInt8(source.next() % 4)],
      expiration: source.next() % 3 == 0 ? now + .milliseconds(source.next() % 500_000) : nil)
    switch source.next() % 12 {
    case 0...2: return .ask(question, .sealed([]))
    case 3...5:
      return RelayMachineFixture.answer(number, source.next() % 2 == 0 ? "approve" : "decline")
    case 6: return .cancel(question.id)
    case 7: return .remind(question.id)
    case 8: return .setLimits(child: child, on: source.next() % 4 != 0)
    case 9: return .changeContact(child: child, .sealed([]))
    case 10: return .post(child: child, .sealed([]))
    default:
      var roster = RelayMachineFixture.roster
      if source.next() % 2 == 0 { roster.devices.removeLast() }
      return .setRoster(roster)
    }
  }
}

extension Array {
  fileprivate func randomElement(_ source: inout IDSource) -> Element? {
    isEmpty ? nil : self[Int(source.next() % UInt64(count))]
  }
}
