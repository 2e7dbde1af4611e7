import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct CommandOutlineTests {
  private static let child = PersonID(3)
  private static let header = RelayMachineFixture.question(1)
  private static let passcode = Passcode(salt: [1], logCost: 4, publicKey: [2])
  private static let invitation = Invitation(
    key: [3], person: child, expires: RelayMachineFixture.start)

  private static let commands: [Command] = [
    .setRoster(RelayMachineFixture.roster), .addChild(displayName: "Noah"),
    .setAccount(child, .sealed([1])), .setLimits(child: child, on: true),
    .setLimits(child: child, on: false), .ask(header, .sealed([1])), .remind(header.id),
    .cancel(header.id), .answer(header.id, choice: "approve"),
    .answer(header.id, choice: "decline"),
    .post(child: child, .sealed([1])), .changeContact(child: child, .sealed([1])),
    .setPasscode(passcode), .answerInPerson(header, .sealed([1]), choice: "approve", proof: [1]),
    .withdraw(child: child, .sealed([1])), .invite(invitation), .noteAge(child, .sealed([1])),
    .setAge(child, .sealed([1]), proof: [1]), .shareKeys(.family, []),
    .shareKeys(.account(child), []), .complain(.family, []), .complain(.account(child), []),
    .changeSettings(child, .sealed([1]), proof: [1]),
    .beat, .opaque(.family, OpaqueBody(kind: 1_000, bytes: [1])),
    .opaque(.family, OpaqueBody(kind: 1_001, bytes: [1])),
    .opaque(.account(child), OpaqueBody(kind: 1_000, bytes: [1])),
  ]

  /// A number for each kind of command. A new kind does not compile without one.
  private func kind(_ command: Command) -> Int {
    switch command {
    case .setRoster: 0
    case .setAccount: 1
    case .setLimits: 2
    case .ask: 3
    case .remind: 4
    case .cancel: 5
    case .answer: 6
    case .post: 7
    case .changeContact: 8
    case .setPasscode: 9
    case .answerInPerson: 10
    case .withdraw: 11
    case .addChild: 12
    case .invite: 13
    case .noteAge: 14
    case .setAge: 15
    case .shareKeys: 16
    case .complain: 17
    case .beat: 18
    case .opaque: 19
    case .changeSettings: 20
    }
  }

  private func event(_ command: Command) throws -> Event {
    // A family without keys: the relay makes the roster of a new child itself.
    let (body, audience): (Event.Body, Audience) =
      if case .addChild = command {
        (.rosterChanged(RelayMachineFixture.roster), .family)
      } else {
        try #require(
          command.outcome { $0 == Self.header.id ? Self.header : nil }
            .map { ($0.1, $0.audience) })
      }
    return Event(
      seq: 1, previous: 0, audience: audience, command: CommandID(high: 1, low: 1),
      device: DeviceID(1), at: RelayMachineFixture.start, body: body)
  }

  @Test("T1: a command and its event have one outline, for every kind")
  func agree() throws {
    #expect(Set(Self.commands.map(kind)).count == 21)
    for command in Self.commands {
      #expect(CommandOutline(command) == CommandOutline(try event(command)), "\(command)")
    }
  }

  @Test("T1: commands of other kinds, or with other values, have other outlines")
  func differ() throws {
    // Adding a child is a change of the roster.
    let others = Self.commands.filter { if case .addChild = $0 { false } else { true } }
    #expect(Set(others.map { CommandOutline($0) }).count == others.count)
    let join = JoinRequest(
      invitation: [1], publicKey: [2], signingKey: [3], agreementKey: [4], proof: [5])
    var event = try event(Self.commands[0])
    event.body = .joinRequested(join)
    #expect(!others.contains { CommandOutline($0) == CommandOutline(event) })
  }
}
