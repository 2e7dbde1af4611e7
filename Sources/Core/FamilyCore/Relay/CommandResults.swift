import FamilyModel

/// The deduplication log: the events that a family's accepted commands produced.
///
/// The pair of device and id names a command: an id of another device is no repetition.
///
/// The newest results are in memory. The ids of one device ascend with time, so a command with an id
/// above all evicted ids of its device is either in memory or new. The shell looks up lower ids in
/// the store before the command executes.
struct CommandResults: Hashable, Sendable {
  /// The result of a search.
  enum Finding: Hashable, Sendable {
    /// The command with this outline produced this event.
    case event(seq: UInt64, outline: CommandOutline)
    /// The command was never accepted.
    case new
    /// The result, if any, is in the store only.
    case evicted
  }

  fileprivate struct Entry: Hashable, Sendable {
    var id: CommandID
    var seq: UInt64
    var device: DeviceID
    var outline: CommandOutline
  }

  /// The largest ids of one device.
  private struct Bounds: Hashable, Sendable {
    var newest: CommandID
    /// The largest evicted id. A device with a wrong clock raises its own floor only.
    var floor: CommandID?
  }

  /// The newest accepted commands, ascending by sequence number.
  private var entries: [Entry] = []
  private var bounds = SmallMap<DeviceID, Bounds>()

  func find(_ id: CommandID, by device: DeviceID) -> Finding {
    // Nearly all commands are the newest of their device.
    guard let bounds = bounds[device], id <= bounds.newest else { return .new }
    if let entry = entries.last(where: { $0.id == id && $0.device == device }) {
      return .event(seq: entry.seq, outline: entry.outline)
    }
    guard let floor = bounds.floor, id <= floor else { return .new }
    return .evicted
  }

  /// Whether the command's result, if any, is in the store only.
  func isEvicted(_ id: CommandID, by device: DeviceID) -> Bool { find(id, by: device) == .evicted }

  /// Adds the result of the event's command. Above twice `limit`, all but the newest `limit` results
  /// are evicted.
  mutating func add(_ event: Event, limit: Int) {
    let entry = Entry(
      id: event.command, seq: event.seq, device: event.device, outline: CommandOutline(event))
    entries.append(entry)
    observe(entry)
    guard entries.count / 2 > limit else { return }
    let evicted = entries.count - limit
    for entry in entries[..<evicted] { raiseFloor(of: entry.device, to: entry.id) }
    entries.removeFirst(evicted)
  }

  /// Forgets the results of devices that may send nothing more.
  mutating func keepDevices(of roster: Roster) {
    for device in bounds.keys where device.rawValue != 0 && roster.device(device) == nil {
      _ = bounds.removeValue(forKey: device)
      entries.removeAll { $0.device == device }
    }
  }

  mutating func trimCapacity() { entries = entries.trimmed }

  private mutating func observe(_ entry: Entry) {
    guard var known = bounds[entry.device] else {
      return bounds.set(entry.device, Bounds(newest: entry.id))
    }
    guard known.newest < entry.id else { return }
    known.newest = entry.id
    bounds.set(entry.device, known)
  }

  private mutating func raiseFloor(of device: DeviceID, to id: CommandID) {
    guard var known = bounds[device] else { return }
    known.floor = max(known.floor ?? id, id)
    bounds.set(device, known)
  }
}

extension CommandResults: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(entries.count))
    var last = Entry.zero
    for entry in entries {
      entry.pack(after: last, &packer)
      last = entry
    }
    let floors = bounds.entries.filter { $0.value.floor != nil }
    packer.add(UInt64(floors.count))
    for entry in floors {
      packer.add(entry.key)
      packer.add(entry.value.floor ?? entry.value.newest)
    }
  }

  init(_ packed: inout Unpacker) {
    var last = Entry.zero
    for _ in 0..<packed.count() {
      last = Entry(&packed, after: last)
      entries.append(last)
      observe(last)
    }
    for _ in 0..<packed.count() {
      let (device, floor) = (packed.value() as DeviceID, packed.value() as CommandID)
      let newest = max(bounds[device]?.newest ?? floor, floor)
      bounds.set(device, Bounds(newest: newest, floor: floor))
    }
  }
}

extension CommandResults.Entry {
  fileprivate static let zero = CommandResults.Entry(
    id: CommandID(high: 0, low: 0), seq: 0, device: DeviceID(0),
    outline: CommandOutline(.addChild(displayName: "")))

  /// Packs the differences from the entry before: ids and numbers ascend in small steps.
  fileprivate func pack(after last: Self, _ packer: inout Packer) {
    let step = Int64(bitPattern: id.high &- last.id.high)
    packer.add(UInt64(bitPattern: step << 1 ^ step >> 63))
    packer.add(fixed: id.low)
    packer.add(seq &- last.seq)
    packer.add(device)
    packer.add(outline)
  }

  fileprivate init(_ packed: inout Unpacker, after last: Self) {
    let bits = packed.number()
    let step = bits >> 1 ^ (0 &- (bits & 1))
    id = CommandID(high: last.id.high &+ step, low: packed.fixed())
    seq = last.seq &+ packed.number()
    device = packed.value()
    outline = packed.value()
  }
}
