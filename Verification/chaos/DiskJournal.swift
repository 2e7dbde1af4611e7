import Foundation
import SystemPackage

/// The operations in the journal of a process's disk, as in ChaosShim.h.
enum DiskOperation: UInt8 {
  case write = 1
  case truncate, sync, remove, name, forget
}

/// A record of the journal without its bytes.
struct DiskRecord {
  static let magic: UInt32 = 0x4348_4154
  /// The bytes of a record before its body.
  static let header = 24

  var operation: DiskOperation
  /// The index of the file's suffix in `PowerLoss.suffixes`.
  var file: Int
  /// The number of the database. A `name` record states its path.
  var database: Int
  var offset: Int
  var length = 0
  /// The position of the record in the journal.
  var position = 0
  /// The position of the body in the journal.
  var body: Range<Int> { position + Self.header..<position + Self.header + length }
}

/// Reads a journal from its start, in bounded memory.
struct DiskJournalReader {
  let descriptor: FileDescriptor
  private let size: Int
  private var position = 0
  /// The bytes of the journal from `windowStart` on.
  private var window: [UInt8]
  private var windowStart: Int

  init(_ descriptor: FileDescriptor) throws {
    self.descriptor = descriptor
    size = try descriptor.size()
    window = Array(repeating: 0, count: FileDescriptor.chunk)
    windowStart = -FileDescriptor.chunk
  }

  /// Reads the next record. Only the last record can be torn by a kill, because each start of a
  /// process begins a new journal.
  ///
  /// - Returns: `nil` at the end, at a torn record, or at bytes that are no record.
  mutating func next() throws -> DiskRecord? {
    guard position + DiskRecord.header <= size else { return nil }
    if position < windowStart || position + DiskRecord.header > windowStart + window.count {
      windowStart = position
      try window.withUnsafeMutableBytes { try descriptor.fill($0, at: windowStart) }
    }
    let at = position - windowStart
    let found = window.withUnsafeBytes { bytes -> DiskRecord? in
      guard bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self) == DiskRecord.magic,
        let operation = DiskOperation(rawValue: bytes[at + 4])
      else { return nil }
      return DiskRecord(
        operation: operation, file: Int(bytes[at + 5]),
        database: Int(bytes.loadUnaligned(fromByteOffset: at + 6, as: UInt16.self)),
        offset: Int(bytes.loadUnaligned(fromByteOffset: at + 8, as: Int64.self)),
        length: Int(bytes.loadUnaligned(fromByteOffset: at + 16, as: UInt64.self)),
        position: position)
    }
    guard let found, found.body.upperBound <= size else { return nil }
    position = found.body.upperBound
    return found
  }

  /// The text in the body of a record.
  func text(of record: DiskRecord) throws -> String {
    var bytes = [UInt8](repeating: 0, count: record.length)
    try bytes.withUnsafeMutableBytes { try descriptor.fill($0, at: record.body.lowerBound) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Appends records to a journal.
struct DiskJournalWriter {
  let descriptor: FileDescriptor
  private(set) var size = 0

  mutating func append(_ record: DiskRecord, _ bytes: UnsafeRawBufferPointer? = nil) throws {
    var header = Data()
    withUnsafeBytes(of: DiskRecord.magic) { header += $0 }
    header += [record.operation.rawValue, UInt8(record.file)]
    withUnsafeBytes(of: UInt16(record.database)) { header += $0 }
    withUnsafeBytes(of: Int64(record.offset)) { header += $0 }
    withUnsafeBytes(of: UInt64(bytes?.count ?? 0)) { header += $0 }
    try descriptor.writeAll(header)
    if let bytes { try descriptor.writeAll(bytes) }
    size += header.count + (bytes?.count ?? 0)
  }
}
