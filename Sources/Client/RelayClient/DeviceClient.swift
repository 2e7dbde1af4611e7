public import Credentials
public import FamilyCore
public import FamilyModel
import SystemClock

/// A tool's blocking connection to the relay with a device's credential, beside the device's own
/// agent.
///
/// The client reads events and sends single commands. Because it neither attaches nor acknowledges,
/// the device's cursors and the receipts that children see do not change.
public struct DeviceClient: ~Copyable {
  /// The device's credential.
  public let credential: Credential
  private var client: RequestClient
  /// The machine of the last read, which already knows the family.
  private var last: GuardianMachine?

  /// Creates a connection. The relay must run by the first request.
  public init(_ credential: Credential) throws {
    self.credential = credential
    client = try RequestClient(
      credential.keys, relay: credential.relayKey, at: credential.requests)
  }

  /// Seals, signs and sends a command, and waits until the relay accepts it. Retries keep the
  /// command's id.
  ///
  /// If the roster has changed since the last read, the command is signed once more. A roster is not,
  /// because its author did not know the change.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - id: The command's id (default: a new one).
  /// - Returns: The command's id and the sequence number of its event.
  /// - Throws: The `Problem` of a refusal, or `RelayUnreachable`.
  @discardableResult
  public mutating func send(_ command: Command, id: CommandID? = nil) throws
    -> (id: CommandID, seq: UInt64)
  {
    var machine = try last ?? machine()
    defer { last = machine }
    do {
      return try client.send(
        try machine.prepare(command, id: id, now: .now), from: credential.address)
    } catch let problem as Problem {
      if problem == .stale, !command.isRoster {
        machine = try self.machine()
      } else if !machine.learn(from: problem, now: .now) {
        // Otherwise the clock of this machine is ahead of the relay's.
        throw problem
      }
      return try client.send(try machine.prepare(command, now: .now), from: credential.address)
    }
  }

  /// Sets the family's passcode: the relay evaluates the blinded text, and the device derives the
  /// key from the result.
  ///
  /// - Throws: `badText` for a wrong length, the `Problem` of a refusal, or `RelayUnreachable`.
  public mutating func setPasscode(
    _ typed: String, logCost: UInt8 = PasscodeCipher.logCost
  ) throws {
    try Passcode.validate(typed: typed)
    let attempt = PasscodeCipher.blind(typed)
    let evaluation = try evaluate(attempt, isNew: true)
    try send(.setPasscode(try PasscodeCipher.make(attempt, evaluation, logCost: logCost)))
  }

  /// Requests the relay's evaluation of a passcode.
  ///
  /// - Parameters:
  ///   - attempt: The blinded passcode.
  ///   - isNew: Whether the evaluation is for a new passcode. Otherwise it counts as a guess.
  /// - Throws: The `Problem` of a refusal, or `RelayUnreachable`.
  public mutating func evaluate(_ attempt: PasscodeAttempt, isNew: Bool) throws
    -> PasscodeEvaluation
  {
    try client.evaluate(attempt.element, isNew: isNew, from: credential.address)
  }

  /// Reads the newest sequence number of each audience that the person may read, ascending by
  /// audience.
  ///
  /// - Throws: A `Problem`, or `RelayUnreachable`.
  public mutating func heads() throws -> [Cursor] {
    try events().reduce(into: [Audience: UInt64]()) { $0[$1.audience] = $1.seq }
      .map { Cursor($0, delivered: $1) }.sorted { $0.audience < $1.audience }
  }

  /// Reads the family audience only: roster, invitations and join requests.
  ///
  /// - Throws: A `Problem`, or `RelayUnreachable`.
  public mutating func family() throws -> GuardianMachine {
    let machine = credential.machine(
      restoring: try client.history(of: .family, from: credential.address))
    last = machine
    return machine
  }

  /// Reads every audience of the person into a machine.
  ///
  /// - Throws: A `Problem`, or `RelayUnreachable`.
  public mutating func machine() throws -> GuardianMachine {
    let machine = credential.machine(restoring: try events())
    last = machine
    return machine
  }

  /// All events that the person may read, in order within each audience.
  private mutating func events() throws -> [Event] {
    var events = try client.history(of: .family, from: credential.address)
    let roster = credential.machine(restoring: events).link.roster
    guard let person = roster.person(credential.personID) else { throw Problem.notEnrolled }
    for audience in roster.audiences(of: person) where audience != .family {
      events += try client.history(of: audience, from: credential.address)
    }
    return events
  }
}

extension Command {
  fileprivate var isRoster: Bool { if case .setRoster = self { true } else { false } }
}
