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
    func add(_ bytes: UnsafeRawBufferPointer) {
      add(UInt64(bytes.count))
      var index = 0
      while index + 8 <= bytes.count {
        add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
        index += 8
      }
      while index < bytes.count {
        add(UInt64(bytes[index]))
        index += 1
      }
    }
    func add(_ text: String) {
      var text = text
      text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }
    add(UInt64(child.rawValue))
    add(app.rawValue)
    subjects.withUnsafeBytes { add($0) }
    for choice in choices {
      add(choice.id)
      add(choice.answer == .approval ? 1 : 0)
    }
    add(UInt64(bitPattern: expiration?.milliseconds ?? .min))
    return sum
  }
}
