import Foundation
import SystemPackage

/// The operations in the journal of a process's disk, as in ChaosShim.h.
enum DiskOperation: UInt8 {
  case write = 1
  case truncate, sync, remove, name, forget, create
}

/// A record of the journal without its body.
struct DiskRecord: Equatable {
  static let magic: UInt32 = 0x4348_4154
  /// The bytes of a record before its body.
  static let header = 48
  static let sector = 512

  var operation: DiskOperation
  /// The index of the file's suffix in `PowerLoss.suffixes`.
  var file: Int
  /// The number of the database. A `name` record states its path.
  var database: Int
  var offset = 0
  /// The written bytes.
  var extent = 0
  /// The size of the file before the operation.
  var size = 0
  /// The bytes of the body.
  var length = 0
  /// The position of the record in the journal.
  var position = 0

  /// The position of the body in the journal.
  var body: Range<Int> { position + Self.header..<position + Self.header + length }
  /// The position of the next record.
  var end: Int { body.upperBound.roundedUp(to: 8) }
  /// The first byte whose former content the body has.
  var begin: Int { offset / Self.sector * Self.sector }
  /// The sectors that a write or a truncation may change.
  var sectors: Range<Int> {
    let end = operation == .truncate ? max(offset, size) : offset + extent
    return offset / Self.sector..<max(end.roundedUp(to: Self.sector), begin) / Self.sector
  }
}

extension Int {
  /// The next multiple of the number.
  func roundedUp(to multiple: Int) -> Int { (self + multiple - 1) / multiple * multiple }
}

/// Reads a journal from its start, in bounded memory.
struct DiskJournalReader {
  let descriptor: FileDescriptor
  private let size: Int
  private var position = 0
  /// The bytes of the journal from `windowStart` on.
  private var window: [UInt8]
  private var windowStart: Int
  private var generation: UInt64?

  init(_ descriptor: FileDescriptor) throws {
    self.descriptor = descriptor
    size = try descriptor.size()
    window = Array(repeating: 0, count: FileDescriptor.chunk)
    windowStart = -FileDescriptor.chunk
  }

  /// Reads the next record.
  ///
  /// - Returns: `nil` at the end, and at bytes that are no record or one of another generation.
  mutating func next() throws -> DiskRecord? {
    guard position + DiskRecord.header <= size else { return nil }
    if position < windowStart || position + DiskRecord.header > windowStart + window.count {
      windowStart = position
      try window.withUnsafeMutableBytes { try descriptor.fill($0, at: windowStart) }
    }
    let at = position - windowStart
    let (found, generation) = window.withUnsafeBytes { bytes -> (DiskRecord?, UInt64) in
      func field<T: FixedWidthInteger>(_ offset: Int) -> T {
        bytes.loadUnaligned(fromByteOffset: at + offset, as: T.self)
      }
      guard field(0) == DiskRecord.magic, let operation = DiskOperation(rawValue: field(4)) else {
        return (nil, 0)
      }
      let record = DiskRecord(
        operation: operation, file: Int(field(5) as UInt8), database: Int(field(6) as UInt16),
        offset: field(16), extent: field(24), size: field(32), length: field(40),
        position: position)
      return (record, field(8))
    }
    guard let found, found.body.upperBound <= size, generation == self.generation ?? generation
    else { return nil }
    self.generation = generation
    position = found.end
    return found
  }

  /// The text in the body of a record.
  func text(of record: DiskRecord) throws -> String {
    var bytes = [UInt8](repeating: 0, count: record.length)
    try bytes.withUnsafeMutableBytes { try descriptor.fill($0, at: record.body.lowerBound) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Appends records to a new journal.
struct DiskJournalWriter {
  let descriptor: FileDescriptor
  var generation: UInt64 = 1
  private(set) var size = 0

  mutating func append(_ record: DiskRecord, _ body: [UInt8] = []) throws {
    var bytes = Data()
    func add<T: FixedWidthInteger>(_ value: T) { withUnsafeBytes(of: value) { bytes += $0 } }
    add(DiskRecord.magic)
    add(record.operation.rawValue)
    add(UInt8(record.file))
    add(UInt16(record.database))
    add(generation)
    for field in [record.offset, record.extent, record.size, body.count] { add(field) }
    bytes += body
    bytes += Data(count: bytes.count.roundedUp(to: 8) - bytes.count)
    try descriptor.writeAll(bytes)
    size += bytes.count
  }
}
