import FamilyModel

/// The last refused commands of a family: a copy of one that comes later is refused alike, whatever has
/// changed since. Its device has told the person, or given the app the default choice (Q8).
///
/// They are in memory only, and of more than ``most`` the oldest are forgotten, and decided anew when they
/// are repeated: copies follow each other within seconds, on connections that end with the relay.
struct RefusalCache: Hashable, Sendable {
  static let most = 64

  fileprivate struct Entry: Hashable, Sendable {
    var device: DeviceID
    var id: CommandID
    var problem: Problem
  }
  private var entries: [Entry] = []

  func find(_ id: CommandID, by device: DeviceID) -> Problem? {
    entries.first { $0.id == id && $0.device == device }?.problem
  }

  /// Keeps the refusal, unless it asks for a repetition.
  mutating func add(_ id: CommandID, by device: DeviceID, _ problem: Problem) {
    guard problem.code < Problem.overloaded.code, problem != .stale, find(id, by: device) == nil
    else { return }
    if entries.count == Self.most { entries.removeFirst() }
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
    packer.add(problem.retryAfter)
  }

  init(_ packed: inout Unpacker) {
    device = packed.value()
    id = packed.value()
    let code = UInt16(packed.number())
    problem = Problem(code: code, retryAfter: packed.value())
  }
}
