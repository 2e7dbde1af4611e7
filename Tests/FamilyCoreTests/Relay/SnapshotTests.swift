import FamilyModel
import Testing

@testable import FamilyCore

/// When snapshots are taken and which are accepted. `SimulationTests` compare their states with the
/// logs'.
@Suite struct SnapshotTests {
  @Test("X2: snapshots follow the log, and a family resumes from the newest one")
  func goesOn() throws {
    var home = RelayMachineFixture()
    home.relay = RelayMachine(verify: FakePasscode.verify, resultsKept: 5, snapshotEvery: 8)
    home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    var newest: (seq: UInt64, bytes: [UInt8])?
    var count = 0
    for number in 1...600 as ClosedRange<UInt64> {
      let question = RelayMachineFixture.question(number / 2)
      let command =
        number % 2 == 0
        ? Command.ask(question, .sealed([])) : RelayMachineFixture.answer(number / 2)
      let request = Request.command(CommandID(high: 3, low: number), command)
      for case .snapshot(_, let seq, let bytes) in home.send(number % 2 == 0 ? 30 : 10, request) {
        #expect(seq == home.log.last?.seq)
        newest = (seq, bytes)
        count += 1
      }
      let length = UInt64(home.log.count)
      #expect(length - (newest?.seq ?? 0) < max(8, length / 4))
      guard number % 50 == 0, let newest else { continue }
      let before = home.relay.state(of: RelayMachineFixture.id)
      home.relay.evict(RelayMachineFixture.id)
      home.relay.load(
        RelayMachineFixture.id, snapshot: FamilyState(snapshot: newest.bytes, resultsKept: 5),
        events: Array(home.log[Int(newest.seq)...]), cursors: [], now: home.now)
      #expect(home.relay.state(of: RelayMachineFixture.id) == before)
    }
    #expect(home.log.count > 550)
    // Longer logs have rarer snapshots.
    #expect(10...20 ~= count)
    let isForgotten = home.relay.needsStoredResult(
      of: CommandID(high: 3, low: 2), by: DeviceID(30), in: RelayMachineFixture.id)
    #expect(isForgotten)
    let late = home.command(10, RelayMachineFixture.answer(1), id: CommandID(high: 4, low: 1))
    #expect(late == .failure(.alreadyAnswered))
  }

  @Test("a long log without a snapshot gets one with the first request of any kind")
  func firstRequest() {
    var home = RelayMachineFixture()
    for _ in 1...20 { _ = home.command(30, .post(child: PersonID(3), .sealed([]))) }
    home.relay = RelayMachine(verify: FakePasscode.verify, snapshotEvery: 8)
    home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    func hasSnapshot(_ effects: [RelayMachine.Effect]) -> Bool {
      effects.contains { if case .snapshot = $0 { true } else { false } }
    }
    let (first, second) = (home.send(20, .ping), home.send(20, .ping))
    #expect(hasSnapshot(first))
    #expect(!hasSnapshot(second))
  }

  @Test(
    "rejects invalid snapshots: truncated, flipped, of another version or another resultsKept"
  )
  func wrong() throws {
    let bytes = try #require(Self.example.snapshot)
    #expect(FamilyState(snapshot: bytes) == Self.example)
    #expect(FamilyState(snapshot: bytes, resultsKept: 64) == nil)
    for count in bytes.indices { #expect(FamilyState(snapshot: Array(bytes[..<count])) == nil) }
    #expect(FamilyState(snapshot: bytes + [0]) == nil)
    var other = bytes
    other[0] += 1
    #expect(FamilyState(snapshot: other) == nil)
    // The store's checksum detects flipped bytes; unpacking and reading them must not trap.
    for place in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[place] ^= 1 << bit
        guard let state = FamilyState(snapshot: flipped) else { continue }
        for question in state.questions.entries.map(\.value) {
          _ = (question.header.app, question.header.subjects, question.header.choices)
        }
      }
    }
  }

  @Test(
    "the bytes of a snapshot are unchanged, or the format version is incremented"
  )
  func form() throws {
    let sum = try #require(Self.example.snapshot).reduce(UInt64(0)) { $0 &* 31 &+ UInt64($1) }
    #expect(
      sum == 18_037_678_589_410_474_032, "increment `Snapshot.formatVersion`, and put \(sum) here")
  }

  /// A family with every kind of event that leaves state.
  private static let example: FamilyState = {
    var family = FamilyState()
    func apply(
      _ body: Event.Body, _ audience: Audience = .conversation(PersonID(3)), _ by: UInt32 = 30
    ) {
      let seq = family.seq + 1
      family.apply(
        Event(
          seq: seq, previous: family.head(audience), audience: audience,
          command: CommandID(high: 5, low: seq), device: DeviceID(by),
          at: RelayMachineFixture.start + .milliseconds(seq), body: body))
    }
    func decision(_ number: UInt64) -> Decision {
      Decision(
        question: RelayMachineFixture.question(number).id,
        choice: RelayMachineFixture.question(number).choices[0])
    }
    apply(.rosterChanged(RelayMachineFixture.roster), .family, 0)
    apply(.limitsChanged(child: PersonID(4), on: false), .family, 10)
    apply(.passcodeChanged(FakePasscode.make("123456")), .family, 10)
    let keys = (1...3).map { RelayMachineFixture.key($0) }
    for key in keys {
      apply(
        .invited(
          Invitation(
            key: key, person: PersonID(5), expires: RelayMachineFixture.start + .milliseconds(9))),
        .family, 10)
    }
    apply(
      .joinRequested(
        JoinRequest(
          invitation: keys[0], publicKey: keys[1], signingKey: keys[2], agreementKey: keys[0],
          proof: [1])), .family, 0)
    for number: UInt64 in 1...5 {
      apply(
        .asked(
          RelayMachineFixture.question(number, expiration: RelayMachineFixture.start), .sealed([1]))
      )
    }
    apply(.reminded(RelayMachineFixture.question(1).id))
    apply(.cancelled(RelayMachineFixture.question(2).id))
    apply(.decided(decision(3)), .conversation(PersonID(3)), 10)
    apply(.answeredInPerson(RelayMachineFixture.question(6), .sealed([1]), decision(6), proof: [1]))
    apply(.posted(child: PersonID(4), .sealed([1])), .conversation(PersonID(4)), 40)
    apply(
      .keysShared([KeyWrap(key: ID128(high: 1, low: 2), reader: keys[0], bytes: [1])]),
      .conversation(PersonID(3)), 30)
    var roster = RelayMachineFixture.roster
    roster.devices.removeLast()
    apply(.rosterChanged(roster), .family, 0)
    return family
  }()
}
