import FamilyModel

/// The remains of a question that is answered, cancelled or long expired. They answer late decisions
/// and repeated questions.
struct ClosedQuestion: Hashable, Sendable {
  /// The way in which the question ended.
  enum End: UInt64, Sendable {
    case cancelled
    case answered
    case expired

    /// The refusal of a late decision.
    var problem: Problem {
      switch self {
      case .cancelled: .cancelled
      case .answered: .alreadyAnswered
      case .expired: .expired
      }
    }
  }

  /// The time after its expiration for which a question keeps its header. Longer than a clock is ever
  /// set back.
  static let expiredTime = Milliseconds.days(1)

  var seq: UInt64
  /// The header's digest: the same question may be repeated under another command id.
  var digest: UInt64
  var child: PersonID
  var end: End
}

extension QuestionHeader {
  /// A digest of the header by FNV-1a (Fowler, Noll, Vo), over words of eight bytes. The digest is
  /// stored, so it is equal in every process.
  var digest: UInt64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ number: UInt64) {
      sum = (sum ^ number) &* 0x100_0000_01B3
      // Multiplication moves differences only upwards; the shift brings them down.
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
    packer.add(end.rawValue)
  }

  init(_ packed: inout Unpacker) {
    seq = packed.number()
    digest = packed.fixed()
    child = packed.value()
    let end = End(rawValue: packed.number())
    if end == nil { packed.fail() }
    self.end = end ?? .cancelled
  }
}
