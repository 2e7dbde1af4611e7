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
  /// After FNV-1a (Fowler, Noll, Vo) of all parts, but by words of eight bytes: the same in every run.
  var digest: UInt64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ number: UInt64) {
      sum = (sum ^ number) &* 0x100_0000_01B3
      // What differs in the upper half has to come down: a product moves differences up only.
      sum ^= sum >> 32
    }
    add(UInt64(child.rawValue))
    add(UInt64(bitPattern: expiration?.milliseconds ?? .min))
    parts.withUnsafeBytes { $0.forEachWord { add($0) } }
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
