import FamilyCore
import FamilyModel
import Synchronization

/// Passcodes without cryptography: the key is the typed text, and a signature is the key with the
/// message.
enum FakePasscode {
  /// The source of blinds: each attempt has another element.
  static func blind() -> ChildMachine.Blind {
    let counter = Counter()
    return { typed in
      var attempt = PasscodeAttempt.ideal(typed)
      attempt.element[31] = counter.next()
      return attempt
    }
  }

  private final class Counter: Sendable {
    private let last = Mutex(UInt8(0))
    func next() -> UInt8 {
      last.withLock { last in
        last &+= 1
        return last
      }
    }
  }

  static func make(_ typed: String, _ evaluation: PasscodeEvaluation) -> Passcode {
    make(typed, relayKey: evaluation.relayKey)
  }

  static func make(
    _ typed: String, relayKey: [UInt8] = Array(repeating: 7, count: PasscodeEvaluation.elementBytes)
  ) -> Passcode {
    Passcode(
      salt: Array(repeating: 0, count: 16), logCost: 4, publicKey: key(typed), relayKey: relayKey)
  }

  static func sign(
    _ typed: String, _ evaluation: PasscodeEvaluation, _ passcode: Passcode, _ message: [UInt8]
  ) -> [UInt8]? {
    evaluation.relayKey == passcode.relayKey ? sign(typed, passcode, message) : nil
  }

  static func sign(_ typed: String, _ passcode: Passcode, _ message: [UInt8]) -> [UInt8]? {
    key(typed) == passcode.publicKey ? passcode.publicKey + message : nil
  }

  @Sendable static func verify(_ key: [UInt8], _ signature: [UInt8], _ message: [UInt8]) -> Bool {
    signature == key + message
  }

  private static func key(_ typed: String) -> [UInt8] {
    Array((Array(typed.utf8) + Array(repeating: 0, count: 32)).prefix(32))
  }
}
