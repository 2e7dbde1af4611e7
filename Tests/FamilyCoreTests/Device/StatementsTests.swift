import FamilyModel
import Testing

@testable import FamilyCore

/// Which of several statements about one value counts.
@Suite struct StatementsTests {
  private typealias Entry = (value: UInt64, order: StatementOrder)

  /// Statements of dishonest signers: neither ids nor knowledge follow the log.
  private func random(_ count: UInt64, _ source: inout IDSource) -> [Entry] {
    (1...count).map { seq in
      let name = CommandName(DeviceID(1), CommandID(high: source.next() % 6, low: 1))
      return (seq, StatementOrder(seq: seq, known: source.next() % seq, command: name))
    }
  }

  private func statements(_ entries: [Entry]) -> Statements<UInt64> {
    var statements = Statements<UInt64>()
    for entry in entries { statements.add(entry.value, entry.order) }
    return statements
  }

  @Test("T2: a statement replaces what its signer knew, whatever the ids say")
  func knowledge() {
    let early = StatementOrder(
      seq: 5, known: 2, command: CommandName(DeviceID(1), CommandID(high: 9_999, low: 1)))
    let later = StatementOrder(
      seq: 6, known: 5, command: CommandName(DeviceID(1), CommandID(high: 10, low: 1)))
    let other = StatementOrder(
      seq: 7, known: 4, command: CommandName(DeviceID(1), CommandID(high: 9, low: 1)))
    #expect(early.isReplaced(by: later) && !later.isReplaced(by: early))
    #expect(other.isReplaced(by: later) && !later.isReplaced(by: other))
    #expect(statements([(1, early), (2, later)]).current?.value == 2)
    #expect(statements([(2, later), (1, early)]).current?.value == 2)
    #expect(statements([(2, later), (2, later)]).all.count == 1)
  }

  @Test("T2: no signer knows its own statement, or a later one")
  func bounded() {
    let order = StatementOrder(
      seq: 5, known: .max, command: CommandName(DeviceID(1), CommandID(high: 1, low: 1)))
    #expect(order.known == 4)
    #expect(
      StatementOrder(
        seq: 0, known: 7, command: CommandName(DeviceID(1), CommandID(high: 1, low: 1))
      ).known == 0)
  }

  @Test("T10: statements lead to one result in any order of arrival", arguments: 1...50)
  func convergence(seed: UInt64) {
    var source = IDSource(seed: seed)
    for _ in 0..<40 {
      var entries = random(6, &source)
      let unknown = entries.filter { entry in
        !entries.contains { $0.order.known >= entry.order.seq }
      }
      let expected = unknown.max {
        ($0.order.command.id, $0.value) < ($1.order.command.id, $1.value)
      }
      let whole = statements(entries)
      #expect(whole.current?.value == expected?.value)
      for _ in 0..<10 {
        entries.shuffle(using: &source)
        #expect(statements(entries) == whole, "seed \(seed)")
      }
    }
  }

  @Test("T10: an app that receives only what changes the result agrees", arguments: 1...50)
  func forwarding(seed: UInt64) {
    var source = IDSource(seed: seed)
    for _ in 0..<40 {
      var device = Statements<UInt64>()
      var app = Statements<UInt64>()
      for entry in random(6, &source).shuffled(using: &source) {
        let before = device.current?.value
        device.add(entry.value, entry.order)
        guard device.current?.value != before else { continue }
        for statement in device.all { app.add(statement.value, statement.order) }
        #expect(app.current == device.current, "seed \(seed)")
      }
    }
  }

  @Test("T10: concurrent statements above the limit leave the latest id")
  func limit() {
    var statements = Statements<UInt64>()
    for number in 1...100 as ClosedRange<UInt64> {
      let name = CommandName(DeviceID(1), CommandID(high: 1_000 - number, low: 1))
      statements.add(number, StatementOrder(seq: 10 + number, known: number % 3, command: name))
      #expect(statements.all.count == min(Int(number), Limits.concurrentStatements))
      #expect(statements.current?.value == 1)
      // The signer that knew most is among them.
      #expect(statements.all.map(\.order.known).max() == min(number, 2))
    }
  }

  /// An event of a guardian, signed with any knowledge and any id.
  private func event(
    _ seq: UInt64, _ audience: Audience, _ body: Event.Body, _ source: inout IDSource
  ) -> Event {
    let known = ChainPosition(seq: source.next() % seq)
    let signature = Signature(
      signer: DeviceID(1), knowing: Knowledge(family: known, audience: known),
      bytes: Array(repeating: 0, count: Signature.byteCount))
    return Event(
      seq: seq, previous: 0, audience: audience,
      command: CommandID(high: source.next() % 5, low: seq), device: DeviceID(1),
      at: Instant(milliseconds: 5), body: body, signature: signature)
  }

  @Test("T10: two devices hold one truth, whatever arrived late", arguments: 1...100)
  func devices(seed: UInt64) {
    var source = IDSource(seed: seed)
    let (child, app) = (PersonID(3), AppID("example.app"))
    let handles = [Handle("+15550100", .phoneNumber), Handle("ada", .custom)]
    var events: [Event] = []
    for seq in 1...6 as ClosedRange<UInt64> {
      let handle = handles[Int(source.next() % 2)]
      let isOn = source.next() % 2 == 0
      let body: Event.Body =
        switch source.next() % 5 {
        case 0: .limitsChanged(child: child, on: isOn)
        case 1: .contactChanged(child: child, .contact(handle, known: isOn))
        case 2: .withdrawn(child: child, .withdrawal(.handle(handle, in: isOn ? app : nil)))
        case 3: .withdrawn(child: child, .withdrawal(isOn ? .consent(app) : .consentGiven(app)))
        default: .contactChanged(child: child, .contactName(handle, isOn ? "Ada" : "Eve"))
        }
      events.append(event(seq, .conversation(child), body, &source))
    }
    func state(_ events: [Event]) -> [String] {
      var (conversation, known) = (Conversation(), KnownHandles())
      for event in events {
        conversation.apply(event)
        known.apply(event) { _ in nil }
        let handle = handles[Int(event.seq % 2)]
        // Approvals, with and without an end, of the signer of the event.
        guard event.seq % 2 == 0, case .limitsChanged = event.body else { continue }
        known.approve(
          [handle], in: app, event.order,
          until: event.seq % 4 == 0 ? Instant(milliseconds: 99) : nil)
      }
      return handles.flatMap { handle in
        [
          "\(known.contains(handle, in: app))", "\(known.isContact(handle))",
          "\(conversation.known.contains(handle, in: app))",
          "\(conversation.name(of: handle) ?? "")",
          "\(known.end(of: handle, in: app)?.milliseconds ?? 0)",
        ]
      } + ["\(conversation.limitsOn)", "\(conversation.consents.isWithdrawn(app))"]
    }
    let expected = state(events)
    for _ in 0..<20 { #expect(state(events.shuffled(using: &source)) == expected, "seed \(seed)") }
  }

  @Test("T10: relay and devices hold one passcode and one account, whatever arrived late")
  func family() {
    var source = IDSource(seed: 7)
    for _ in 0..<200 {
      var events: [Event] = []
      for seq in 1...6 as ClosedRange<UInt64> {
        let passcode = Passcode(
          salt: [UInt8(seq)], logCost: 15, publicKey: Array(repeating: UInt8(seq), count: 32))
        let account = Account(
          birthdate: Account.Day(year: 2000 + Int32(seq), month: 1, day: 1), region: "US",
          declaration: .guardianDeclared)
        events.append(
          source.next() % 2 == 0
            ? event(seq, .family, .passcodeChanged(passcode), &source)
            : event(
              seq, .account(PersonID(3)), .accountChanged(PersonID(3), .account(account)), &source))
      }
      var relay = FamilyState()
      var device = FamilyProjection()
      var late = FamilyProjection()
      for event in events {
        relay.apply(event)
        device.apply(event)
      }
      for event in events.shuffled(using: &source) { late.apply(event) }
      #expect(relay.passcode == device.passcode && device.passcode == late.passcode)
      #expect(device.accounts == late.accounts)
      #expect(FamilyState(snapshot: relay.snapshot ?? [])?.passcode == relay.passcode)
    }
  }
}
