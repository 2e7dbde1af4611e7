/// The bytes that the passcode's key signs when a guardian acts on the child's device.
public enum InPerson {
  /// The bytes of an in-person answer. They contain the decision and none of the question's
  /// content.
  ///
  /// The text `permission-relay in person 1`, then family (8 bytes), child (4), question (16), and
  /// the identifiers of the choice and of the app, each preceded by its length (2). Numbers are
  /// big-endian.
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

  /// The bytes of a change of age settings on the child's device.
  ///
  /// The text `permission-relay age settings 1`, then family (8 bytes), child (4) and the command's
  /// id (16). The relay accepts each command id once, so the signature cannot be replayed.
  public static func signedBytes(
    family: FamilyID, child: PersonID, command: CommandID
  ) -> [UInt8] {
    let family = ID128(high: 0, low: family.rawValue).bytes.suffix(8)
    let child = ID128(high: 0, low: UInt64(child.rawValue)).bytes.suffix(4)
    return Array("permission-relay age settings 1".utf8) + family + child + command.bytes
  }
}
