import FamilyModel
import Synchronization
import Testing

@testable import FamilyCore

/// The relay's count of guesses.
@Suite struct PasscodeLockTests {
  private var home = RelayMachineFixture()

  init() { home.relay = Self.relay(home) }

  /// A relay with the family's durable log and lock, whose secrets differ.
  private static func relay(_ home: RelayMachineFixture) -> RelayMachine {
    let secrets = Secrets()
    let ideal = PasscodeEvaluator.ideal
    let evaluator = PasscodeEvaluator(
      makeSecret: { secrets.next() }, publicKey: ideal.publicKey, evaluate: ideal.evaluate)
    var relay = RelayMachine(verify: FakePasscode.verify, passcodes: evaluator)
    relay.load(
      RelayMachineFixture.id, events: home.log, cursors: [],
      passcodeLock: home.passcodeLock.flatMap { PasscodeLock(stored: $0) }, now: home.now)
    return relay
  }

  private final class Secrets: Sendable {
    private let last = Mutex(UInt8(0))
    func next() -> [UInt8] {
      let number = last.withLock { last in
        last += 1
        return last
      }
      return Array(repeating: number, count: PasscodeEvaluation.elementBytes)
    }
  }

  private mutating func prepare(_ typed: String, by device: UInt32 = 10) throws -> Passcode {
    let element = PasscodeAttempt.ideal(typed).element
    guard case .evaluated(let evaluation) = home.reply(device, .evaluate(element, isNew: true))
    else { throw Problem.unknown }
    return FakePasscode.make(typed, evaluation)
  }

  @discardableResult
  private mutating func setPasscode(_ typed: String = "246824") throws -> Passcode {
    let passcode = try prepare(typed)
    _ = try home.command(10, .setPasscode(passcode)).get()
    return passcode
  }

  /// Guesses once.
  ///
  /// - Returns: `nil` if the relay evaluates the guess, or its problem.
  private mutating func guess(_ number: Int, by device: UInt32 = 30) -> Problem? {
    let element = PasscodeAttempt.ideal("\(number)").element
    let effects = home.send(device, .evaluate(element, isNew: false))
    for case .reply(_, _, let reply) in effects {
      switch reply {
      case .evaluated:
        // The count is durable before the reply: it is an earlier effect of the same commit.
        guard case .passcodeLock = effects.first else { return .storeFailed }
        return nil
      case .failed(let problem): return problem
      default: return .unknown
      }
    }
    return .unknown
  }

  private func locked(_ wait: Milliseconds) -> Problem { .passcodeLocked(retryAfter: wait) }

  @Test("T8: five guesses, then growing delays, for all devices of the family together")
  mutating func delays() throws {
    try setPasscode()
    for (number, device) in [UInt32(30), 31, 40, 30, 40].enumerated() {
      #expect(guess(number, by: device) == nil)
    }
    var number = 10
    for delay in Limits.passcodeDelays + [.hours(1)] {
      for device: UInt32 in [30, 31, 40] {
        #expect(guess(number, by: device) == locked(delay))
      }
      home.now = home.now + delay - .milliseconds(1)
      #expect(guess(number, by: 40) == locked(.milliseconds(1)))
      home.now = home.now + .milliseconds(1)
      #expect(guess(number, by: 40) == nil)
      number += 1
    }
  }

  @Test("T8: of a thousand guesses in a minute, the relay evaluates five")
  mutating func thousand() throws {
    try setPasscode()
    var evaluated = 0
    for number in 0..<1_000 {
      if guess(number, by: [30, 31, 40][number % 3]) == nil { evaluated += 1 }
      home.now = home.now + .milliseconds(59)
    }
    #expect(evaluated == Limits.passcodeGuesses)
  }

  @Test("T8: a restart of the relay, also after each guess, returns no guess")
  mutating func restart() throws {
    try setPasscode()
    for number in 0..<5 {
      #expect(guess(number) == nil)
      home.relay = Self.relay(home)
    }
    #expect(guess(5) == locked(.minutes(1)))
    home.relay.evict(RelayMachineFixture.id)
    home.relay = Self.relay(home)
    #expect(guess(6) == locked(.minutes(1)))
    #expect(PasscodeLock(stored: []) == nil && PasscodeLock(stored: [9, 9]) == nil)
  }

  @Test("T8: a repeated request counts once") mutating func repeated() throws {
    try setPasscode()
    #expect(guess(0) == nil)
    let element = PasscodeAttempt.ideal("0").element
    for _ in 0..<20 {
      guard case .evaluated? = home.reply(30, .evaluate(element, isNew: false)) else {
        Issue.record("the repetition was not evaluated")
        return
      }
    }
    for number in 1..<5 { #expect(guess(number) == nil) }
    #expect(guess(5) == locked(.minutes(1)))
  }

  @Test("T8: a clock that was set back extends no delay") mutating func clock() throws {
    try setPasscode()
    for number in 0..<5 { #expect(guess(number) == nil) }
    home.now = home.now - .hours(20)
    #expect(guess(6) == locked(.minutes(1)))
  }

  @Test("T8: an accepted proof resets the count, and a refused one does not")
  mutating func reset() throws {
    let passcode = try setPasscode()
    for number in 0..<5 { #expect(guess(number) == nil) }
    let header = RelayMachineFixture.question(1)
    func answer(_ id: CommandID, _ typed: String) -> Command {
      let bytes = InPerson.signedBytes(
        family: RelayMachineFixture.id, command: id, header: header, choice: "approve",
        content: [1])
      let key = FakePasscode.make(typed).publicKey
      return .answerInPerson(header, .sealed([1]), choice: "approve", proof: key + bytes)
    }
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 1)
    #expect(home.command(30, answer(id, "111111"), id: id) == .failure(.noProof))
    #expect(guess(6) == locked(.minutes(1)))
    let next = CommandID(high: id.high, low: 2)
    #expect(passcode.publicKey == FakePasscode.make("246824").publicKey)
    _ = try home.command(30, answer(next, "246824"), id: next).get()
    for number in 10..<15 { #expect(guess(number) == nil) }
    #expect(guess(15) == locked(.minutes(1)))
    // The repeated command is no new proof.
    _ = try home.command(30, answer(next, "246824"), id: next).get()
    #expect(guess(15) == locked(.minutes(1)))
  }

  @Test("T8: a guardian sets a new passcode during a delay, and the guesses start from zero")
  mutating func newPasscode() throws {
    try setPasscode()
    for number in 0..<5 { #expect(guess(number) == nil) }
    for typed in ["111111", "222222", "333333"] { _ = try prepare(typed) }
    // A prepared passcode neither counts nor resets.
    #expect(guess(5) == locked(.minutes(1)))
    try setPasscode("864286")
    #expect(guess(5) == nil)
  }

  @Test("T8: of two guardians who set a passcode at once, the relay refuses the first")
  mutating func concurrent() throws {
    let first = try prepare("111111")
    let second = try prepare("222222", by: 20)
    #expect(first.relayKey != second.relayKey)
    #expect(home.command(10, .setPasscode(first)) == .failure(.passcodeOutdated))
    _ = try home.command(20, .setPasscode(second)).get()
    #expect(home.command(20, .setPasscode(second)) == .failure(.passcodeOutdated))
    var outdated = second
    outdated.relayKey = []
    #expect(home.command(20, .setPasscode(outdated)) == .failure(.passcodeOutdated))
  }

  @Test("T8: only children's devices guess, and only guardians' devices prepare a passcode")
  mutating func roles() throws {
    let element = PasscodeAttempt.ideal("0").element
    #expect(guess(0) == .noPasscode)
    try setPasscode()
    for device: UInt32 in [0, 10, 20, 50] { #expect(guess(0, by: device) == .notPermitted) }
    for device: UInt32 in [0, 30, 50] {
      #expect(home.reply(device, .evaluate(element, isNew: true)) == .failed(.notPermitted))
    }
    #expect(
      home.reply(30, .evaluate(element, isNew: false), key: [1]) == .failed(.notEnrolled))
  }

  @Test("T8: a passcode of an earlier version, or without its lock, must be set again")
  mutating func outdated() throws {
    try setPasscode()
    home.passcodeLock = nil
    home.relay = Self.relay(home)
    #expect(guess(0) == .passcodeOutdated)
    for case .passcodeChanged(var passcode) in home.log.map(\.body) {
      passcode.relayKey = []
      home.log[home.log.count - 1].body = .passcodeChanged(passcode)
    }
    home.relay = Self.relay(home)
    let proof = Array(repeating: UInt8(0), count: 64)
    let header = RelayMachineFixture.question(1)
    #expect(
      home.command(
        30, .answerInPerson(header, .sealed([1]), choice: "approve", proof: proof))
        == .failure(.passcodeOutdated))
    try setPasscode()
    #expect(guess(0) == nil)
  }

  @Test("T8: no text of the lock or of an attempt contains a secret") func texts() {
    var lock = PasscodeLock()
    let secret = lock.prepare(.ideal)
    let attempt = PasscodeAttempt.ideal("246824")
    #expect(!"\(lock)".contains("\(secret[0])") && !"\(attempt)".contains("246824"))
    #expect(!String(reflecting: attempt).contains("246824"))
    #expect(PasscodeLock(stored: lock.stored) == lock)
  }
}
