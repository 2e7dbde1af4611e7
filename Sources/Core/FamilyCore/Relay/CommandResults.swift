import FamilyModel

/// The deduplication log: the events that a family's accepted commands produced.
///
/// The newest results are in memory. Command ids ascend with time, so a command with an id above
/// all evicted ids is either in memory or new. The shell looks up lower ids in the store before the
/// command executes.
struct CommandResults: Hashable, Sendable {
  /// The result of a search.
  enum Finding: Hashable, Sendable {
    /// The command produced this event.
    case seq(UInt64)
    /// The command was never accepted.
    case new
    /// The result, if any, is in the store only.
    case evicted
  }

  fileprivate struct Entry: Hashable, Sendable {
    var id: CommandID
    var seq: UInt64
  }

  /// The accepted commands, ascending by id.
  private var entries: [Entry] = []
  /// The largest evicted id.
  private var floor: CommandID?

  func find(_ id: CommandID) -> Finding {
    let index = index(of: id)
    if index < entries.count, entries[index].id == id { return .seq(entries[index].seq) }
    guard let floor else { return .new }
    return floor < id ? .new : .evicted
  }

  /// Whether the command's result, if any, is in the store only.
  func isEvicted(_ id: CommandID) -> Bool {
    // Nearly all commands are newer than the evicted ones.
    guard let floor, id <= floor else { return false }
    return find(id) == .evicted
  }

  /// Adds an accepted command. Above twice `limit`, all but the newest `limit` results are evicted.
  mutating func add(_ id: CommandID, _ seq: UInt64, limit: Int) {
    let index = index(of: id)
    if index == entries.count {
      entries.append(Entry(id: id, seq: seq))
    } else {
      entries.insert(Entry(id: id, seq: seq), at: index)
    }
    guard entries.count / 2 > limit else { return }
    let evicted = entries.count - limit
    floor = max(floor ?? entries[evicted - 1].id, entries[evicted - 1].id)
    entries.removeFirst(evicted)
  }

  mutating func trimCapacity() { entries = entries.trimmed }

  private func index(of id: CommandID) -> Int {
    // Nearly all commands are the newest.
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
