import FamilyModel
import Foundation
import SystemPackage

/// The changes of one file that a power loss can take back, with the former bytes in the journal.
struct UnsyncedChanges {
  /// The place of a sector's durable bytes in the journal. Fewer than a sector end the file.
  private typealias Former = Range<Int>

  private let file: URL
  /// Whether the file durably exists.
  private var isDurable: Bool
  /// The writes and truncations since the last sync.
  private var unsynced: [DiskRecord] = []
  /// The sectors that a failed sync left out. Only another write makes one durable.
  private var forgotten: [Int: Former] = [:]
  /// The durable size; `nil` for that of the file.
  private var durableSize: Int?

  init(of file: URL, isDurable: Bool = true) {
    (self.file, self.isDurable) = (file, isDurable)
  }

  // MARK: the journal

  /// Applies a record of the journal.
  mutating func apply(_ record: DiskRecord) {
    switch record.operation {
    case .create: self = UnsyncedChanges(of: file, isDurable: false)
    case .remove: self = UnsyncedChanges(of: file)
    case .write, .truncate:
      durableSize = durableSize ?? record.size
      unsynced.append(record)
    case .sync: sync(before: record.offset)
    case .forget: forget(before: record.offset)
    case .name: break
    }
  }

  private mutating func sync(before mark: Int) {
    isDurable = true
    for change in removeUnsynced(before: mark) {
      let end = change.offset + change.extent
      durableSize = change.operation == .truncate ? change.offset : max(durableSize ?? 0, end)
      if !forgotten.isEmpty { for sector in change.sectors { forgotten[sector] = nil } }
    }
    if unsynced.isEmpty && forgotten.isEmpty { durableSize = nil }
  }

  private mutating func forget(before mark: Int) {
    for change in removeUnsynced(before: mark) { Self.add(change, to: &forgotten) }
  }

  private mutating func removeUnsynced(before mark: Int) -> ArraySlice<DiskRecord> {
    let count = unsynced.prefix { $0.position < mark }.count
    defer { unsynced.removeFirst(count) }
    return unsynced[..<count]
  }

  /// Adds the former bytes of the sectors that no earlier change has.
  private static func add(_ change: DiskRecord, to former: inout [Int: Former]) {
    for sector in change.sectors where former[sector] == nil {
      let begin = change.body.lowerBound + sector * DiskRecord.sector - change.begin
      let end = min(begin + DiskRecord.sector, change.body.upperBound)
      former[sector] = min(begin, end)..<end
    }
  }

  private static func former(of changes: [DiskRecord]) -> [Int: Former] {
    changes.reduce(into: [:]) { add($1, to: &$0) }
  }

  // MARK: the sectors at risk

  /// A sector of the file whose bytes differ from its durable ones.
  private struct Sector {
    var number: Int
    var new: [UInt8]
    /// Bytes behind the durable end are zero.
    var old: [UInt8]
    var isForgotten: Bool

    var range: Range<Int> {
      let begin = number * DiskRecord.sector
      return begin..<begin + new.count
    }
  }

  /// Calls the body with each sector at risk, in order.
  private func forEachSector(
    of file: FileDescriptor, _ size: Int, in journal: FileDescriptor,
    _ body: (Sector) throws -> Void
  ) throws {
    let durableSize = durableSize ?? size
    let fresh = Self.former(of: unsynced)
    let all = forgotten.merging(fresh) { first, _ in first }
    var numbers = Set(all.keys)
    let sector = DiskRecord.sector
    if durableSize < size { numbers.formUnion(durableSize / sector...(size - 1) / sector) }
    for number in numbers.sorted() where number * sector < size {
      let begin = number * sector
      var new = [UInt8](repeating: 0, count: min(sector, size - begin))
      try new.withUnsafeMutableBytes { try file.fill($0, at: begin) }
      var old = new
      if let former = all[number] {
        old = Array(repeating: 0, count: new.count)
        let count = min(former.count, new.count)
        try old.withUnsafeMutableBytes {
          try journal.fill(
            UnsafeMutableRawBufferPointer(rebasing: $0[..<count]), at: former.lowerBound)
        }
      }
      guard begin + new.count > durableSize || old != new else { continue }
      let isForgotten = forgotten[number] != nil && fresh[number] == nil
      try body(Sector(number: number, new: new, old: old, isForgotten: isForgotten))
    }
  }

  /// The durable bytes behind the end of the file, from the begin of a sector on.
  private func cutBytes(_ size: Int, in journal: FileDescriptor) throws -> (Int, [UInt8]) {
    let former = forgotten.merging(Self.former(of: unsynced)) { first, _ in first }
    let begin = size / DiskRecord.sector * DiskRecord.sector
    var bytes = [UInt8](repeating: 0, count: (durableSize ?? size) - begin)
    for (sector, place) in former where sector * DiskRecord.sector >= begin {
      let at = sector * DiskRecord.sector - begin
      guard at < bytes.count else { continue }
      let count = min(place.count, bytes.count - at)
      try bytes.withUnsafeMutableBytes {
        try journal.fill(
          UnsafeMutableRawBufferPointer(rebasing: $0[at..<at + count]), at: place.lowerBound)
      }
    }
    return (begin, bytes)
  }

  private func open() throws -> FileDescriptor? {
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return try FileDescriptor.open(FilePath(file.path), .readWrite)
  }

  // MARK: a new journal

  /// Whether a power loss can take anything back.
  private var isEmpty: Bool { isDurable && durableSize == nil }

  /// Writes the changes to a new journal.
  func write(
    _ database: Int, _ index: Int, from old: FileDescriptor, to journal: inout DiskJournalWriter
  ) throws {
    guard !isEmpty, let file = try open() else { return }
    defer { try? file.close() }
    func record(_ operation: DiskOperation, _ offset: Int = 0) -> DiskRecord {
      DiskRecord(operation: operation, file: index, database: database, offset: offset)
    }
    if !isDurable { try journal.append(record(.create)) }
    let size = try file.size()
    let durableSize = durableSize ?? size
    func write(_ sector: Sector) throws {
      var change = record(.write, sector.range.lowerBound)
      (change.extent, change.size) = (sector.range.count, durableSize)
      let count = max(0, min(durableSize - change.offset, sector.old.count))
      try journal.append(change, Array(sector.old[..<count]))
    }
    var others: [Sector] = []
    let begin = journal.size
    try forEachSector(of: file, size, in: old) { sector in
      if sector.isForgotten { try write(sector) } else { others.append(sector) }
    }
    if journal.size > begin { try journal.append(record(.forget, journal.size)) }
    if size < durableSize {
      var change = record(.truncate, size)
      change.size = durableSize
      try journal.append(change, cutBytes(size, in: old).1)
    }
    for sector in others { try write(sector) }
  }

  // MARK: the power loss

  /// Decides for each unsynced sector and for the size whether the change survives.
  ///
  /// - Parameter chance: The chance of each to survive.
  /// - Returns: The number of unsynced bytes.
  func cutPower(
    chance: Double, in journal: FileDescriptor, _ random: inout IDSource
  ) throws -> Int {
    guard let file = try open() else { return 0 }
    defer { try? file.close() }
    let size = try file.size()
    guard isDurable else {
      if chance == 0 { try FileManager.default.removeItem(at: self.file) }
      return size
    }
    let isNewSize = Double.random(in: 0..<1, using: &random) < chance
    let kept = isNewSize ? size : durableSize ?? size
    let cut = kept > size ? try cutBytes(size, in: journal) : nil
    var atRisk = 0
    try forEachSector(of: file, size, in: journal) { sector in
      atRisk += sector.range.count
      let survives = Double.random(in: 0..<1, using: &random) < chance
      if !survives || sector.range.upperBound > kept {
        try file.writeAll(toAbsoluteOffset: Int64(sector.range.lowerBound), sector.old)
      }
    }
    if let (begin, bytes) = cut {
      try file.writeAll(toAbsoluteOffset: Int64(size), bytes[(size - begin)...])
    }
    try file.resize(to: Int64(kept))
    return atRisk
  }
}
