import FamilyModel
import Foundation
import SystemPackage

/// The durable content of one file of a store, in a file of its own, and the changes that a power
/// loss can undo.
struct DurableImage {
  private let file: URL
  private let image: URL
  /// Whether the file durably exists.
  private var isDurable = false
  /// Whether all differences from the image are in the journal. Otherwise the whole file is compared.
  private var isJournalled: Bool
  /// The writes and truncations since the last sync.
  private var unsynced: [DiskRecord] = []
  /// The changes that a failed sync left out, and later syncs leave out as well.
  private var forgotten: [DiskRecord] = []

  init(isJournalled: Bool, of file: URL, image: URL) {
    self.file = file
    self.image = image
    self.isJournalled = isJournalled
  }

  /// Takes the present file for durable.
  mutating func markSynced() throws {
    (unsynced, forgotten, isJournalled) = ([], [], true)
    try removeImage()
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    try FileManager.default.copyItem(at: file, to: image)
    isDurable = true
  }

  private mutating func removeImage() throws {
    if FileManager.default.fileExists(atPath: image.path) {
      try FileManager.default.removeItem(at: image)
    }
    isDurable = false
  }

  // MARK: the journal

  /// Applies a record of the journal.
  mutating func apply(_ record: DiskRecord, in journal: FileDescriptor) throws {
    switch record.operation {
    case .write, .truncate: unsynced.append(record)
    case .sync: try sync(before: record.offset, in: journal)
    case .forget:
      let count = count(before: record.offset)
      forgotten += unsynced[..<count]
      unsynced.removeFirst(count)
    case .remove:
      (unsynced, forgotten) = ([], [])
      try removeImage()
    case .name: break
    }
  }

  private func count(before mark: Int) -> Int { unsynced.prefix { $0.position < mark }.count }

  private mutating func sync(before mark: Int, in journal: FileDescriptor) throws {
    let image = try Self.open(image, creates: true)
    defer { try? image.close() }
    // An image that an earlier run left, or a removed one, starts empty.
    if !isDurable { try image.resize(to: 0) }
    isDurable = true
    let count = count(before: mark)
    for change in unsynced[..<count] {
      if change.operation == .truncate {
        try image.resize(to: Int64(change.offset))
      } else {
        try image.copy(change.body, of: journal, to: change.offset)
      }
    }
    unsynced.removeFirst(count)
  }

  /// Writes the unsynced changes to a new journal.
  mutating func writeUnsynced(
    _ database: Int, _ index: Int, to journal: inout DiskJournalWriter
  ) throws {
    defer { (unsynced, forgotten, isJournalled) = ([], [], true) }
    guard FileManager.default.fileExists(atPath: file.path) else { return try removeImage() }
    try withComparison { comparison in
      let (all, lost) = sectorsAtRisk(comparison)
      let begin = journal.size
      try write(lost, comparison, database, index, to: &journal)
      if journal.size > begin {
        try journal.append(
          DiskRecord(operation: .forget, file: index, database: database, offset: journal.size))
      }
      if comparison.size < comparison.imageSize {
        try journal.append(
          DiskRecord(
            operation: .truncate, file: index, database: database, offset: comparison.size))
      }
      try write(all.subtracting(lost), comparison, database, index, to: &journal)
    }
  }

  private func write(
    _ sectors: RangeSet<Int>, _ comparison: SectorComparison, _ database: Int, _ index: Int,
    to journal: inout DiskJournalWriter
  ) throws {
    try comparison.forEach(in: sectors) { range, new, _ in
      let record = DiskRecord(
        operation: .write, file: index, database: database, offset: range.lowerBound)
      try journal.append(record, new)
    }
  }

  /// All sectors that may differ from the image, and those among them that only a forgotten change
  /// has written.
  private func sectorsAtRisk(_ comparison: SectorComparison) -> (RangeSet<Int>, RangeSet<Int>) {
    func sectors(_ changes: [DiskRecord]) -> RangeSet<Int> {
      var found = RangeSet<Int>()
      for change in changes {
        let sector = SectorComparison.sector
        let upper =
          change.operation == .truncate
          ? comparison.end : (change.offset + change.length + sector - 1) / sector
        let (begin, end) = (change.offset / sector, min(upper, comparison.end))
        if begin < end { found.insert(contentsOf: begin..<end) }
      }
      return found
    }
    var fresh = sectors(unsynced)
    if !isJournalled || !isDurable { fresh.insert(contentsOf: 0..<comparison.end) }
    let lost = sectors(forgotten).subtracting(fresh)
    var all = fresh.union(lost)
    let grown = comparison.imageSize / SectorComparison.sector
    if comparison.size > comparison.imageSize { all.insert(contentsOf: grown..<comparison.end) }
    return (all, lost)
  }

  // MARK: the power loss

  /// Decides for each unsynced sector and for the size whether the change survives.
  ///
  /// - Parameter chance: The chance of each to survive.
  /// - Returns: The number of unsynced bytes.
  mutating func cutPower(chance: Double, _ random: inout IDSource) throws -> Int {
    defer { (unsynced, forgotten, isJournalled) = ([], [], true) }
    guard FileManager.default.fileExists(atPath: file.path) else {
      try removeImage()
      return 0
    }
    guard isDurable else {
      let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
      if chance == 0 {
        try FileManager.default.removeItem(at: file)
      } else {
        try markSynced()
      }
      return size
    }
    return try withComparison { comparison in
      let isNewSize = Double.random(in: 0..<1, using: &random) < chance
      let size = isNewSize ? comparison.size : comparison.imageSize
      let (file, image) = (comparison.file, comparison.image!)
      var atRisk = 0
      try comparison.forEach(in: sectorsAtRisk(comparison).0) { range, new, old in
        atRisk += range.count
        if Double.random(in: 0..<1, using: &random) < chance, range.upperBound <= size {
          try image.writeAll(toAbsoluteOffset: Int64(range.lowerBound), new)
        } else {
          try file.writeAll(toAbsoluteOffset: Int64(range.lowerBound), old)
        }
      }
      try image.resize(to: Int64(size))
      if size > comparison.size {
        try file.copy(comparison.size..<size, of: image, to: comparison.size)
      } else {
        try file.resize(to: Int64(size))
      }
      return atRisk
    }
  }

  private func withComparison<R>(_ body: (SectorComparison) throws -> R) throws -> R {
    let file = try Self.open(file)
    defer { try? file.close() }
    let image = isDurable ? try Self.open(image) : nil
    defer { try? image?.close() }
    return try body(SectorComparison(file: file, image: image))
  }

  private static func open(_ file: URL, creates: Bool = false) throws -> FileDescriptor {
    try FileDescriptor.open(
      FilePath(file.path), .readWrite, options: creates ? [.create] : [],
      permissions: [.ownerReadWrite])
  }
}
