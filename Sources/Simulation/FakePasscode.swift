import FamilyModel
import RelayStore

/// Passcodes without cryptography, of the sizes that the wire wants.
enum FakePasscode {
  static func make(_ typed: String) -> Passcode {
    Passcode(salt: Array(repeating: 0, count: 16), logCost: 4, publicKey: key(typed))
  }

  static func sign(_ typed: String, _ passcode: Passcode, _ message: [UInt8]) -> [UInt8]? {
    key(typed) == passcode.publicKey ? signature(passcode.publicKey, message) : nil
  }

  @Sendable static func verify(_ key: [UInt8], _ signature: [UInt8], _ message: [UInt8]) -> Bool {
    signature == self.signature(key, message)
  }

  private static func signature(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var sum = Checksum()
    sum.add(key)
    sum.add(message)
    var source = IDSource(seed: UInt64(sum.value))
    return (0..<64).map { _ in UInt8(truncatingIfNeeded: source.next()) }
  }

  private static func key(_ typed: String) -> [UInt8] {
    Array((Array(typed.utf8) + Array(repeating: 0, count: 32)).prefix(32))
  }
}
