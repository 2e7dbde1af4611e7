/// The family's Screen Time passcode, as far as anybody needs to know it: enough to check what is typed, and
/// to check that somebody typed it (A4).
///
/// A key pair is derived from the passcode (scrypt, then Ed25519); the public half is here. Who types the
/// passcode can sign with the private half, and the relay and every device can check the signature: a
/// device that does not know the passcode cannot approve in person, whatever software it runs. Whoever has
/// this value can try out passcodes, at scrypt's price for each; a longer passcode is the remedy.
public struct Passcode: Hashable, Sendable {
  /// Random, 16 bytes.
  public var salt: [UInt8]
  /// scrypt's cost is two to the power of this.
  public var logCost: UInt8
  /// Ed25519, 32 bytes.
  public var publicKey: [UInt8]
  /// A passcode with these parts.
  public init(salt: [UInt8], logCost: UInt8, publicKey: [UInt8]) {
    self.salt = salt
    self.logCost = logCost
    self.publicKey = publicKey
  }

  /// Refuses what no agent makes.
  public func validate() throws(Problem) {
    guard salt.count == 16, publicKey.count == 32, Limits.passcodeLogCost ~= logCost else {
      throw .malformed
    }
  }
}

/// What is signed when a guardian approves on the child's device (A4).
public enum InPerson {
  /// The bytes under the signature: who decided what, and nothing of what the question says.
  ///
  /// The text `permission-relay in person 1`, then family (8 bytes), child (4), question (16), and the
  /// choice's and the app's identifiers, each with its length (2) before it. Numbers are big-endian.
  public static func signedBytes(
    family: FamilyID, header: QuestionHeader, choice: String
  ) -> [UInt8] {
    var bytes = Array("permission-relay in person 1".utf8)
    func add(_ number: UInt64, _ count: Int) {
      for shift in (0..<count).reversed() {
        bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(shift))))
      }
    }
    add(family.rawValue, 8)
    add(UInt64(header.child.rawValue), 4)
    bytes += header.id.bytes
    for text in [choice, header.app.rawValue] {
      add(UInt64(text.utf8.count), 2)
      bytes += text.utf8
    }
    return bytes
  }

  /// The bytes under the signature when a guardian changes age settings on the child's device (D7).
  ///
  /// The text `permission-relay age settings 1`, then family (8 bytes), child (4) and the command's id (16).
  /// The relay takes a command's id once, so nobody can use the signature again.
  public static func signedBytes(
    family: FamilyID, child: PersonID, command: CommandID
  ) -> [UInt8] {
    let family = ID128(high: 0, low: family.rawValue).bytes.suffix(8)
    let child = ID128(high: 0, low: UInt64(child.rawValue)).bytes.suffix(4)
    return Array("permission-relay age settings 1".utf8) + family + child + command.bytes
  }
}

/// What a guardian takes back (R9).
public enum Withdrawal: Hashable, Sendable {
  /// A handle is not known any more: a custom name in this app, or everywhere when it is `nil`; numbers and
  /// addresses everywhere.
  case handle(Handle, in: AppID?)
  /// The consent that the child goes on using the app.
  case consent(AppID)
}
