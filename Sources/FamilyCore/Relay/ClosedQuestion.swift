import FamilyModel

/// What is left of a question that is answered or cancelled: what a late answer, and a question that is asked
/// again, have to be told.
struct ClosedQuestion: Hashable, Sendable {
  var seq: UInt64
  /// Of the header: the same question may come again under another command's id.
  var digest: UInt64
  var child: PersonID
  var isAnswered: Bool
}

extension QuestionHeader {
  /// FNV-1a of all parts (Fowler, Noll, Vo): the same in every run.
  var digest: UInt64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    func add(_ number: UInt64) {
      withUnsafeBytes(of: number.littleEndian) { add($0) }
    }
    add(UInt64(child.rawValue))
    add(app.rawValue.utf8)
    add(UInt64(subjects.count))
    add(subjects)
    for choice in choices {
      add(choice.id.utf8)
      add(UInt64(choice.answer == .approval ? 1 : 0) << 32 | UInt64(choice.id.utf8.count))
    }
    add(UInt64(bitPattern: expiration?.milliseconds ?? .min))
    return sum
  }
}

extension ClosedQuestion: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(seq)
    packer.add(fixed: digest)
    packer.add(child)
    packer.add(isAnswered)
  }

  init(_ packed: inout Unpacker) {
    seq = packed.number()
    digest = packed.fixed()
    child = packed.value()
    isAnswered = packed.isSo()
  }
}
