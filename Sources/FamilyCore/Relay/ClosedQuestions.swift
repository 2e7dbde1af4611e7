import FamilyModel

/// The questions of a family that are answered or cancelled: what is left of them is what a late answer, and
/// a question that is asked again, have to be told.
struct ClosedQuestions: Hashable, Sendable {
  struct Entry: Hashable, Sendable {
    var id: QuestionID
    var seq: UInt64
    /// Of the header: the same question may come again under another command's id.
    var digest: UInt64
    var child: PersonID
    var isAnswered: Bool
  }

  /// Ascending by id.
  private var entries: [Entry] = []

  subscript(id: QuestionID) -> Entry? {
    let index = index(of: id)
    return index < entries.count && entries[index].id == id ? entries[index] : nil
  }

  mutating func add(_ entry: Entry) {
    let index = index(of: entry.id)
    if index < entries.count, entries[index].id == entry.id { return entries[index] = entry }
    entries.insert(entry, at: index)
  }

  mutating func fit() { entries = entries.fitted }

  private func index(of id: QuestionID) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
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
