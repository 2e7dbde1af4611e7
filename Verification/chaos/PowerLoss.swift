import FamilyModel
import Foundation

/// What the relay's disk would still have if the power went now.
///
/// The shim in the relay writes a journal of all writes and syncs. From it comes the *durable image* of each
/// file: what was synced. What the file has beyond that may survive a power loss or not, sector by sector.
/// Kills do not change it: the page cache outlives a process, and so does what was not synced.
final class PowerLoss: @unchecked Sendable {
  static let sector = 512
  private static let suffixes = ["", "-wal", "-journal"]
  private static let header = 24
  private static let magic: UInt32 = 0x4348_4153

  private let database: URL
  let journal: URL
  /// By the number of the file; `nil`: it does not exist.
  private var durable: [Data?] = [nil, nil, nil]

  init(database: URL, journal: URL) {
    self.database = database
    self.journal = journal
  }

  private func file(_ index: Int) -> URL {
    URL(fileURLWithPath: database.path + Self.suffixes[index])
  }

  /// Takes the journal in and begins a new one; the process must not run. What it wrote and did not sync
  /// goes on being at risk.
  func settle() throws {
    replay((try? Data(contentsOf: journal)) ?? Data())
    var rest = Data()
    for index in durable.indices {
      guard let now = try? Data(contentsOf: file(index)) else {
        durable[index] = nil
        continue
      }
      let old = durable[index] ?? Data()
      guard now != old else { continue }
      if now.count < old.count { rest += Self.record(2, index, Int64(now.count)) }
      for sector in Self.differing(old, now) {
        rest += Self.record(1, index, Int64(sector.lowerBound), now[sector])
      }
    }
    try rest.write(to: journal)
  }

  /// Cuts the power: each sector that was not synced is kept or lost, by the seed. Gives how many bytes of
  /// unsynced sectors there were. The process must not run.
  func strike(_ seed: UInt64) throws -> Int {
    try settle()
    var random = IDSource(seed: seed)
    // Half of the time everything is lost that may be.
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

  /// Takes the files as they are for synced: chaos itself changed them.
  func adopt() throws {
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
      // A record that a kill cut off is the last one: `settle` comes before each start.
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

  /// The sectors of `new` that are not so in `old`.
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
