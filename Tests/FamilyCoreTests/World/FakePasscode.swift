import FamilyModel

/// Passcodes without cryptography: the key is the typed text, and a signature is the key with the
/// message.
enum FakePasscode {
  static func make(_ typed: String) -> Passcode {
    Passcode(salt: Array(repeating: 0, count: 16), logCost: 4, publicKey: key(typed))
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
