import FamilyCore
import FamilyHarness
import FamilyModel

/// A relay with one family: organizer 1, guardian 2, children 3 and 4, adult 5. Person p has device
/// 10·p; organizer and child 3 also have devices 11 and 31.
struct RelayMachineFixture {
  static let start = Instant(milliseconds: 1_700_000_000_000)
  static let id = FamilyID(7)
  var relay = RelayMachine(verify: FakePasscode.verify)
  var now = RelayMachineFixture.start
  var log: [Event] = []
  /// The durable passcode lock.
  var passcodeLock: [UInt8]?
  private var lastRequest: UInt64 = 0
  private var lastCommand: UInt64 = 0

  static let roster = Roster(
    [
      (.organizer, "Ada"), (.guardian, "Ben"), (.child, "Cleo"), (.child, "Dan"), (.adult, "Eve"),
    ],
    devices: [10, 11, 20, 30, 31, 40, 50].map {
      Device(id: DeviceID($0), person: PersonID($0 / 10), publicKey: key($0))
    })

  static func key(_ device: UInt32) -> [UInt8] { Device.curveKey(device) }
  static func address(_ device: UInt32) -> DeviceAddress {
    DeviceAddress(family: id, device: DeviceID(device))
  }

  init(founded: Bool = true) {
    relay.load(RelayMachineFixture.id, events: [], cursors: [], now: now)
    if founded { _ = command(0, .setRoster(RelayMachineFixture.roster)) }
  }

  mutating func send(_ device: UInt32, _ request: Request, key: [UInt8]? = nil)
    -> [RelayMachine.Effect]
  {
    lastRequest += 1
    let effects = relay.step(
      .request(
        RelayMachineFixture.address(device), key: key ?? RelayMachineFixture.key(device),
        administrator: device == 0,
        id: RequestID(lastRequest), request), now: now)
    for case .append(_, let event) in effects { log.append(event) }
    for case .passcodeLock(_, let bytes) in effects { passcodeLock = bytes }
    return effects
  }

  mutating func reply(_ device: UInt32, _ request: Request, key: [UInt8]? = nil) -> Reply? {
    let effects = send(device, request, key: key)
    for case .reply(let address, let id, let reply) in effects
    where address == RelayMachineFixture.address(device) && id.rawValue == lastRequest {
      return reply
    }
    return nil
  }

  /// Sends the command and returns its event's sequence number, or the problem.
  mutating func command(_ device: UInt32, _ command: Command, id: CommandID? = nil)
    -> Result<UInt64, Problem>
  {
    lastCommand += 1
    let id = id ?? CommandID(high: 1, low: lastCommand)
    switch reply(device, .command(id, command)) {
    case .accepted(id, let seq): return .success(seq)
    case .refused(id, let problem): return .failure(problem)
    default: return .failure(Problem(code: 0))
    }
  }

  mutating func ask(_ header: QuestionHeader) -> Result<UInt64, Problem> { ask(30, header) }

  mutating func ask(_ device: UInt32, _ header: QuestionHeader) -> Result<UInt64, Problem> {
    command(device, .ask(header, .sealed([1])))
  }

  /// The channels that an attach returns.
  mutating func channels(_ device: UInt32) -> [Channel] {
    guard case .attached(let channels, _) = reply(device, .attach([])) else { return [] }
    return channels
  }

  static func question(
    _ id: UInt64, child: UInt32 = 3, about subjects: [UInt8] = [], app: String = "example.app",
    expiration: Instant? = nil
  ) -> QuestionHeader {
    QuestionHeader(
      id: QuestionID(high: 9, low: id), child: PersonID(child), app: AppID(app),
      subjects: subjects.isEmpty ? [UInt8(truncatingIfNeeded: id), 1] : subjects,
      choices: [
        ChoiceHeader(id: "approve", answer: .approval),
        ChoiceHeader(id: "decline", answer: .denial),
      ], expiration: expiration)
  }

  static func answer(_ id: UInt64, _ choice: String = "approve") -> Command {
    .answer(QuestionID(high: 9, low: id), choice: choice)
  }
}
