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
  fileprivate struct Bounds: Hashable, Sendable {
    var newest: CommandID
    /// The largest evicted id. A device with a wrong clock raises its own floor only.
    var floor: CommandID?
  }

  /// The newest accepted commands, ascending by sequence number, in bytes. Repeated commands are rare,
  /// so entries are written for each event and seldom read: to pack or open a family copies them.
  private var entries = PackedResults()
  private var bounds = SmallMap<DeviceID, Bounds>()

  func find(_ id: CommandID, by device: DeviceID) -> Finding {
    // Nearly all commands are the newest of their device.
    guard let bounds = bounds[device], id <= bounds.newest else { return .new }
    if let entry = entries.all.last(where: { $0.id == id && $0.device == device }) {
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
    let all = entries.all
    for entry in all.dropLast(limit) { raiseFloor(of: entry.device, to: entry.id) }
    entries = PackedResults(all.suffix(limit))
  }

  /// Forgets the results of devices that may send nothing more.
  mutating func keepDevices(of roster: Roster) {
    let gone = bounds.keys.filter { $0.rawValue != 0 && roster.device($0) == nil }
    guard !gone.isEmpty else { return }
    for device in gone { _ = bounds.removeValue(forKey: device) }
    entries = PackedResults(entries.all.filter { !gone.contains($0.device) })
  }

  mutating func trimCapacity() { entries.trimCapacity() }

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
    packer.add(entries)
    packer.add(bounds)
  }

  init(_ packed: inout Unpacker) {
    entries = packed.value()
    bounds = packed.value()
  }
}

extension CommandResults.Bounds: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(newest)
    packer.add(floor)
  }

  init(_ packed: inout Unpacker) {
    newest = packed.value()
    floor = packed.value()
  }
}

/// Results one after the other, each as its differences from the one before: ids and numbers ascend
/// in small steps.
private struct PackedResults: Hashable, Sendable, Packable {
  typealias Entry = CommandResults.Entry

  private(set) var count = 0
  private var bytes: [UInt8] = []
  /// The upper half of the last id.
  private var lastHigh: UInt64 = 0
  private var lastSeq: UInt64 = 0

  /// Bytes of the largest entry: three numbers, and ten bytes of fixed length.
  private static let entryBytes = 40

  init() {}

  init(_ entries: some Sequence<Entry>) {
    for entry in entries { append(entry) }
  }

  mutating func trimCapacity() { bytes = bytes.trimmed }

  mutating func append(_ entry: Entry) {
    let step = Int64(bitPattern: entry.id.high &- lastHigh)
    let seqStep = entry.seq &- lastSeq
    withUnsafeTemporaryAllocation(byteCount: Self.entryBytes, alignment: 8) { buffer in
      var end = 0
      func add(_ number: UInt64) {
        Varint.write(number, to: buffer, at: end)
        end += Varint.size(of: number)
      }
      buffer.storeBytes(of: entry.id.low.littleEndian, as: UInt64.self)
      buffer.storeBytes(
        of: entry.outline.value.littleEndian, toByteOffset: 8, as: UInt16.self)
      end = 10
      add(UInt64(bitPattern: step << 1 ^ step >> 63))
      add(seqStep)
      add(UInt64(entry.device.rawValue))
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
    }
    count += 1
    (lastHigh, lastSeq) = (entry.id.high, entry.seq)
  }

  /// The entries, ascending by sequence number.
  var all: [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(count)
    bytes.withUnsafeBytes { bytes in
      var (position, high, seq): (Int, UInt64, UInt64) = (0, 0, 0)
      while bytes.count - position > 10 {
        let low = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        let outline = bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt16.self)
        position += 10
        guard let step = Varint.read(bytes, at: &position),
          let seqStep = Varint.read(bytes, at: &position),
          let device = Varint.read(bytes, at: &position)
        else { return }
        high = high &+ (step >> 1 ^ (0 &- (step & 1)))
        seq = seq &+ seqStep
        entries.append(
          Entry(
            id: CommandID(high: high, low: UInt64(littleEndian: low)), seq: seq,
            device: DeviceID(UInt32(truncatingIfNeeded: device)),
            outline: CommandOutline(value: UInt16(littleEndian: outline))))
      }
    }
    return entries
  }

  func pack(_ packer: inout Packer) {
    packer.add(UInt64(count))
    packer.add(bytes)
    packer.add(fixed: lastHigh)
    packer.add(lastSeq)
  }

  init(_ packed: inout Unpacker) {
    count = packed.count()
    bytes = packed.array()
    lastHigh = packed.fixed()
    lastSeq = packed.number()
  }
}
