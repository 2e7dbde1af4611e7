/// The bytes that the passcode's key signs when a guardian acts on the child's device.
///
/// The bytes contain the command's id, so a proof is valid for one command only. The id contains
/// the time of the proof.
public enum InPerson {
  /// The bytes of an in-person answer: family, command, the question's readable part with the
  /// digest of its subjects, the choice, and the digest of the sealed question.
  public static func signedBytes(
    family: FamilyID, command: CommandID, header: QuestionHeader, choice: String, content: [UInt8]
  ) -> [UInt8] {
    var out = BoundBytes("permission-relay in person 2")
    out.add(family.rawValue)
    out.add(command)
    out.add(header.id)
    out.add(header.child.rawValue)
    out.add(header.app.rawValue)
    out.add(header.subjects)
    out.add(UInt32(header.choices.count))
    for choice in header.choices {
      out.add(choice.id)
      out.add(choice.answer.rawValue)
    }
    out.add(UInt8(header.expiration == nil ? 0 : 1))
    out.add(header.expiration?.milliseconds ?? 0)
    out.add(choice)
    out.add(content)
    return out.bytes
  }

  /// The bytes of a change of age settings on the child's device: family, command, child, and the
  /// digest of the sealed settings.
  public static func signedBytes(
    family: FamilyID, command: CommandID, child: PersonID, content: [UInt8]
  ) -> [UInt8] {
    var out = BoundBytes("permission-relay age settings 2")
    out.add(family.rawValue)
    out.add(command)
    out.add(child.rawValue)
    out.add(content)
    return out.bytes
  }

  /// Checks that a proof is of the present.
  ///
  /// - Parameters:
  ///   - command: The command, whose id contains the time of the proof.
  ///   - moment: The relay's time at the acceptance of the command.
  /// - Throws: `proofOutdated` if the times differ by more than ``Limits/passcodeProofTime``.
  public static func check(timeOf command: CommandID, at moment: Instant) throws(Problem) {
    let limit = Limits.passcodeProofTime
    guard command.time - moment <= limit, moment - command.time <= limit else {
      throw .proofOutdated
    }
  }
}
