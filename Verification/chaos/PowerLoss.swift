import FamilyModel
import Foundation

/// Simulates power loss on the relay's disk.
///
/// The relay's shim journals all writes and syncs, from which the *durable image* of each file is
/// computed. In a power loss each unsynced sector survives or not. A kill loses nothing, because
/// the page cache outlives it.
final class PowerLoss: @unchecked Sendable {
  static let sector = 512
  private static let suffixes = ["", "-wal", "-journal"]
  private static let header = 24
  private static let magic: UInt32 = 0x4348_4153

  private let database: URL
  let journal: URL
  /// The durable images in the order of `suffixes`; `nil` for a file that does not exist.
  private var durable: [Data?] = [nil, nil, nil]

  init(database: URL, journal: URL) {
    self.database = database
    self.journal = journal
  }

  private func file(_ index: Int) -> URL {
    URL(fileURLWithPath: database.path + Self.suffixes[index])
  }

  /// Applies the journal to the durable images and starts a new journal with the unsynced writes.
  ///
  /// Precondition: the relay does not run.
  func absorbJournal() throws {
    replay((try? Data(contentsOf: journal)) ?? Data())
    var unsynced = Data()
    for index in durable.indices {
      guard let now = try? Data(contentsOf: file(index)) else {
        durable[index] = nil
        continue
      }
      let old = durable[index] ?? Data()
      guard now != old else { continue }
      if now.count < old.count { unsynced += Self.record(2, index, Int64(now.count)) }
      for sector in Self.differing(old, now) {
        unsynced += Self.record(1, index, Int64(sector.lowerBound), now[sector])
      }
    }
    try unsynced.write(to: journal)
  }

  /// Cuts the power: the seed decides for each unsynced sector whether it survives.
  ///
  /// Precondition: the relay does not run.
  ///
  /// - Returns: The number of unsynced bytes.
  func cutPower(_ seed: UInt64) throws -> Int {
    try absorbJournal()
    var random = IDSource(seed: seed)
    // Half of the power losses lose all unsynced sectors.
    let chance = Bool.random(using: &random) ? 0 : Double.random(in: 0...1, using: &random)
    var atRisk = 0
    for index in durable.indices {
      guard let now = try? Data(contentsOf: file(index)) else { continue }
      guard let old = durable[index] else {
        atRisk += now.count
        if chance == 0 {
          try FileManager.default.removeItem(at: file(index))
        } else {
          durable[index] = now
        }
        continue
      }
      let isNewSize = Double.random(in: 0..<1, using: &random) < chance
      var kept = old
      let size = isNewSize ? now.count : old.count
      kept = kept.prefix(size) + Data(count: max(0, size - kept.count))
      for sector in Self.differing(old, now) {
        atRisk += sector.count
        if Double.random(in: 0..<1, using: &random) < chance, sector.upperBound <= size {
          kept.replaceSubrange(sector, with: now[sector])
        }
      }
      durable[index] = kept
      if kept != now { try kept.write(to: file(index)) }
    }
    try Data().write(to: journal)
    return atRisk
  }

  /// Marks the files as synced after chaos itself has changed them.
  func markSynced() throws {
    for index in durable.indices { durable[index] = try? Data(contentsOf: file(index)) }
    try Data().write(to: journal)
  }

  private func replay(_ journal: Data) {
    var pending: [[(operation: UInt8, offset: Int, bytes: Data)]] = [[], [], []]
    var at = 0
    while at + Self.header <= journal.count {
      let (magic, operation, file, offset, length) = journal.withUnsafeBytes { bytes in
        (
          bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self), bytes[at + 4],
          Int(bytes[at + 5]), Int(bytes.loadUnaligned(fromByteOffset: at + 8, as: Int64.self)),
          Int(bytes.loadUnaligned(fromByteOffset: at + 16, as: UInt64.self))
        )
      }
      let body = operation == 1 ? length : 0
      // Only the last record can be torn by a kill, because each start absorbs the journal.
      guard magic == Self.magic, file < 3, at + Self.header + body <= journal.count else { return }
      let bytes = journal.subdata(in: at + Self.header..<at + Self.header + body)
      at += Self.header + body
      switch operation {
      case 3:
        for change in pending[file] {
          apply(change.operation, change.offset, change.bytes, to: file)
        }
        pending[file] = []
        if durable[file] == nil { durable[file] = Data() }
      case 4:
        pending[file] = []
        durable[file] = nil
      default: pending[file].append((operation, offset, bytes))
      }
    }
  }

  private func apply(_ operation: UInt8, _ offset: Int, _ bytes: Data, to file: Int) {
    var image = durable[file] ?? Data()
    if operation == 2 {
      image = image.prefix(offset) + Data(count: max(0, offset - image.count))
    } else {
      let end = offset + bytes.count
      if image.count < end { image += Data(count: end - image.count) }
      image.replaceSubrange(offset..<end, with: bytes)
    }
    durable[file] = image
  }

  /// The sectors of `new` that differ from `old`.
  private static func differing(_ old: Data, _ new: Data) -> [Range<Int>] {
    old.withUnsafeBytes { old in
      new.withUnsafeBytes { new in
        stride(from: 0, to: new.count, by: sector).compactMap { start in
          let range = start..<min(start + sector, new.count)
          let isOld =
            range.upperBound <= old.count
            && memcmp(old.baseAddress! + start, new.baseAddress! + start, range.count) == 0
          return isOld ? nil : range
        }
      }
    }
  }

  private static func record(
    _ operation: UInt8, _ file: Int, _ offset: Int64, _ bytes: Data = Data()
  ) -> Data {
    var record = Data()
    withUnsafeBytes(of: magic) { record += $0 }
    record += [operation, UInt8(file), 0, 0]
    withUnsafeBytes(of: offset) { record += $0 }
    withUnsafeBytes(of: UInt64(bytes.count)) { record += $0 }
    return record + bytes
  }
}
