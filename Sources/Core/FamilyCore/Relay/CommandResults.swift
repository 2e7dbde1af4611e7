import FamilyModel

/// What the accepted commands of a family led to: a repeated one gets the same, for ever.
///
/// The newest are in memory. Ids are time-ordered, so a command with an id above all that were let go is
/// either here or new; one below them is looked up in the store, by the shell, before it is decided.
struct CommandResults: Hashable, Sendable {
  /// What is known of a command.
  enum Finding: Hashable, Sendable {
    /// It was accepted as this event.
    case seq(UInt64)
    /// It was never accepted.
    case new
    /// Only the store can tell.
    case unknown
  }

  fileprivate struct Entry: Hashable, Sendable {
    var id: CommandID
    var seq: UInt64
  }

  /// The accepted commands, ascending by id.
  private var entries: [Entry] = []
  /// The largest id that was let go.
  private var floor: CommandID?

  func find(_ id: CommandID) -> Finding {
    let index = index(of: id)
    if index < entries.count, entries[index].id == id { return .seq(entries[index].seq) }
    guard let floor else { return .new }
    return floor < id ? .new : .unknown
  }

  /// Whether only the store can tell what became of the command.
  func isForgotten(_ id: CommandID) -> Bool {
    // Nearly always it is newer than all that were let go.
    guard let floor, id <= floor else { return false }
    return find(id) == .unknown
  }

  /// Keeps a command that was accepted; of more than twice `most`, half are let go.
  mutating func add(_ id: CommandID, _ seq: UInt64, most: Int) {
    let index = index(of: id)
    if index == entries.count {
      entries.append(Entry(id: id, seq: seq))
    } else {
      entries.insert(Entry(id: id, seq: seq), at: index)
    }
    guard entries.count / 2 > most else { return }
    let gone = entries.count - most
    floor = max(floor ?? entries[gone - 1].id, entries[gone - 1].id)
    entries.removeFirst(gone)
  }

  mutating func fit() { entries = entries.fitted }

  private func index(of id: CommandID) -> Int {
    // Nearly always it is the newest.
    guard let last = entries.last, id <= last.id else { return entries.count }
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension CommandResults: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(entries)
    packer.add(floor)
  }

  init(_ packed: inout Unpacker) {
    entries = packed.value()
    floor = packed.value()
  }
}

extension CommandResults.Entry: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(seq)
  }

  init(_ packed: inout Unpacker) {
    id = packed.value()
    seq = packed.number()
  }
}
