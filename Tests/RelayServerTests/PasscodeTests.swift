import FamilyCore
import FamilyModel
import RelayClient
import RelayFixture
import RelayServer
import SQLiteStore
import Testing

@testable import Credentials

/// The family's passcode with real cryptography, a real relay and its store.
@Suite(.timeLimit(.minutes(10))) struct PasscodeTests {
  @Test("T8: the relay receives nothing that depends on the passcode alone") func blinded() {
    let attempts = (0..<4).map { _ in PasscodeCipher.blind("246824") }
    #expect(Set(attempts.map(\.element)).count == 4)
  }

  /// Whether the text is the family's passcode, with one request to the relay.
  private func isPasscode(_ typed: String, of client: inout DeviceClient) throws -> Bool {
    let passcode = try #require(try client.machine().link.passcode)
    let attempt = PasscodeCipher.blind(typed)
    let evaluation = try client.evaluate(attempt, isNew: false)
    return PasscodeCipher.sign([1], with: attempt, evaluation, of: passcode) != nil
  }

  @Test("T8: the passcode is found with the relay only, which locks after five guesses")
  func guesses() async throws {
    var fixture = try await RelayFixture()
    let keys = try fixture.createFamily(1)
    var rosa = try fixture.client(1, 10, .organizer, keys)
    try rosa.setPasscode("246824", logCost: 4)
    // The attacker has a copy of a child's folder and of the log.
    var attacker = try fixture.client(1, 30, .child, keys)
    #expect(try isPasscode("246824", of: &attacker))
    let passcode = try #require(try attacker.machine().link.passcode)
    let attempt = PasscodeCipher.blind("246824")
    let old = try attacker.evaluate(attempt, isNew: false)
    // The evaluation of one text says nothing about another, and none works for a new passcode.
    let other = PasscodeAttempt(typed: "111111", blind: attempt.blind, element: attempt.element)
    #expect(PasscodeCipher.sign([1], with: other, old, of: passcode) == nil)
    var evaluated = 2
    for number in 0..<100 {
      if (try? attacker.evaluate(PasscodeCipher.blind("\(number)"), isNew: false)) != nil {
        evaluated += 1
      }
    }
    #expect(evaluated == Limits.passcodeGuesses)
    // A second device, and a new start of the relay.
    try await fixture.stop()
    fixture = try await RelayFixture(in: fixture.folder)
    for device: UInt32 in [30, 40] {
      var child = try fixture.client(1, device, .child, keys)
      do {
        _ = try isPasscode("246824", of: &child)
        Issue.record("device \(device) may guess")
      } catch let problem as Problem {
        #expect(problem.code == 441 && problem.retryAfter > .zero)
        #expect(problem.retryAfter <= .minutes(1))
      }
    }
    // A new passcode ends the lock and the old evaluations.
    rosa = try fixture.client(1, 10, .organizer, keys)
    try rosa.setPasscode("864286", logCost: 4)
    attacker = try fixture.client(1, 30, .child, keys)
    let new = try #require(try attacker.machine().link.passcode)
    #expect(PasscodeCipher.sign([1], with: attempt, old, of: new) == nil)
    #expect(try !isPasscode("246824", of: &attacker))
    #expect(try isPasscode("864286", of: &attacker))
    try await fixture.stop()
  }

  @Test("T8: no evaluation leaves the relay before its count is durable")
  func persistBeforeReply() async throws {
    let fixture = try await RelayFixture { store in
      WatchedStore(store) { batch in batch.passcodeLocks.isEmpty ? nil : .slow(milliseconds: 400) }
    }
    let keys = try fixture.createFamily(1)
    let guardian = try fixture.peer(1, 10, keys[10])
    try guardian.send(.evaluate(PasscodeCipher.blind("246824").element, isNew: true))
    #expect(try guardian.receive(within: .milliseconds(250)) == nil)
    guard case .evaluated? = try guardian.receive()?.reply else {
      Issue.record("no evaluation")
      return
    }
    try await fixture.stop()
  }

  @Test("T8: a copy of the relay's store without its key file allows no guess")
  func copiedStore() async throws {
    let fixture = try await RelayFixture()
    let keys = try fixture.createFamily(1)
    var rosa = try fixture.client(1, 10, .organizer, keys)
    try rosa.setPasscode("246824", logCost: 4)
    try await fixture.stop()
    let store = try SQLiteEventStore(
      path: fixture.folder.appendingPathComponent("relay.sqlite").path)
    let family = FamilyID(1)
    let stored = try #require(try store.load(family).passcodeLock?.payload)
    #expect(PasscodeLock(stored: stored) == nil)
    let ciphers = [fixture.keys.channelSecret, Array(repeating: 7, count: 32)].map {
      PasscodeLockCipher(secret: $0)
    }
    #expect(ciphers[0].open(stored, of: family).flatMap(PasscodeLock.init(stored:)) != nil)
    #expect(ciphers[0].open(stored, of: FamilyID(2)) == nil)
    #expect(ciphers[1].open(stored, of: family) == nil)
    #expect(ciphers[0].open([], of: family) == nil)
  }
}
