import FamilyModel

/// The last refused commands of a family.
///
/// A copy of a refused command gets the same refusal even if the state has changed since. The
/// device has already shown the refusal to the person, or given the app the default choice.
///
/// The cache is in memory only and holds the last ``capacity`` refusals. Copies of a command arrive
/// within seconds of each other, over connections that end with the relay. A copy of an evicted
/// refusal is decided as a new command.
struct RefusalCache: Hashable, Sendable {
  /// The number of refusals kept.
  static let capacity = 64

  fileprivate struct Entry: Hashable, Sendable {
    var device: DeviceID
    var id: CommandID
    var problem: Problem
  }
  private var entries: [Entry] = []

  func find(_ id: CommandID, by device: DeviceID) -> Problem? {
    entries.first { $0.id == id && $0.device == device }?.problem
  }

  /// Adds the refusal, unless its problem allows a retry.
  mutating func add(_ id: CommandID, by device: DeviceID, _ problem: Problem) {
    guard problem.code < Problem.overloaded.code, problem != .stale, problem != .forked,
      find(id, by: device) == nil
    else { return }
    if entries.count == Self.capacity { entries.removeFirst() }
    entries.append(Entry(device: device, id: id, problem: problem))
  }
}

extension RefusalCache: Packable {
  func pack(_ packer: inout Packer) { packer.add(entries) }
  init(_ packed: inout Unpacker) { entries = packed.value() }
}

extension RefusalCache.Entry: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(device)
    packer.add(id)
    packer.add(UInt64(problem.code))
    packer.add(UInt32(clamping: problem.retryAfter.count))
    packer.add(problem.relayTime)
  }

  init(_ packed: inout Unpacker) {
    device = packed.value()
    id = packed.value()
    let code = UInt16(truncatingIfNeeded: packed.number())
    let retryAfter = Milliseconds.milliseconds(packed.value() as UInt32)
    problem = Problem(code: code, retryAfter: retryAfter, relayTime: packed.value())
  }
}
