import FamilyModel
import Foundation
import History
import Synchronization
import ZeroMQ

/// The facts of a worker in a shared mapping of a file, which survives `kill -9` of the worker.
///
/// The file begins with the length of its records. The length grows after a record is written, so a
/// kill leaves no torn record.
final class FactJournal: Sendable {
  /// The most bytes of facts: a sparse file has only the written part.
  private static let capacity = 1 << 36
  /// Bytes of the length at the start of the file.
  fileprivate static let header = 8

  private struct Map: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    var scratch: [UInt8] = []
  }
  private let map: Mutex<Map>

  /// Opens the journal, or creates it.
  init(_ file: URL) throws {
    let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    defer { close(descriptor) }
    guard ftruncate(descriptor, Self.capacity) == 0,
      let base = mmap(nil, Self.capacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      base != MAP_FAILED
    else { throw CocoaError(.fileWriteOutOfSpace) }
    map = Mutex(Map(base: base))
  }

  /// Appends facts with the present time.
  func record(_ facts: [Fact]) {
    let now = MonotonicInstant.now.nanoseconds
    map.withLock { map in
      map.scratch.removeAll(keepingCapacity: true)
      for fact in facts { FactCoding.append(fact, at: now, to: &map.scratch) }
      let length = map.base.load(as: Int.self)
      precondition(Self.header + length + map.scratch.count <= Self.capacity, "journal full")
      map.scratch.withUnsafeBytes {
        (map.base + Self.header + length).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
      }
      map.base.storeBytes(of: length + map.scratch.count, as: Int.self)
    }
  }

  func record(_ fact: Fact) { record([fact]) }
}

/// The recorded facts of all workers, by family.
struct RecordedFacts {
  private struct Place {
    var file: UInt32
    var offset: UInt64
  }
  private let files: [Data]
  private var places: [FamilyID: [Place]] = [:]
  /// The number of facts.
  private(set) var count = 0

  /// Reads the journals.
  ///
  /// Precondition: no worker writes any more.
  init(_ urls: [URL]) throws {
    files = try urls.map { url in
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }
      let head = try handle.read(upToCount: FactJournal.header) ?? Data()
      guard head.count == FactJournal.header else { return Data() }
      let length = head.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
      return try handle.read(upToCount: length) ?? Data()
    }
    for (file, data) in files.enumerated() {
      data.withUnsafeBytes { bytes in
        var position = 0
        while let (family, end) = FactCoding.peek(bytes, at: position) {
          places[family, default: []].append(
            Place(file: UInt32(file), offset: UInt64(position)))
          position = end
          count += 1
        }
      }
    }
  }

  /// The facts about a family in the order of their times.
  func facts(of family: FamilyID) -> [(fact: Fact, at: UInt64)] {
    (places[family] ?? []).compactMap { place in
      files[Int(place.file)].withUnsafeBytes { FactCoding.read($0, at: Int(place.offset)) }
    }.sorted { $0.at < $1.at }
  }
}
