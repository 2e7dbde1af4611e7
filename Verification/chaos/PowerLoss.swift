import FamilyModel
import Foundation
import Synchronization
import SystemPackage

/// Simulates power loss on the disk of one process, which may have several stores.
///
/// The process's shim journals all writes and syncs, from which the *durable image* of each file is
/// computed. In a power loss each unsynced sector survives or not. A kill loses nothing, because
/// the page cache outlives it.
///
/// The images are files beside the journal. The work is proportional to the journal and to the
/// unsynced bytes; only the first look at a store reads all of it.
final class PowerLoss: Sendable {
  /// The files of a store.
  static let suffixes = ["", "-wal", "-journal"]

  /// The folder of the stores, as in `CHAOS_DISK`.
  private let folder: URL
  /// The file for `CHAOS_JOURNAL`.
  let journal: URL
  private let stores = Mutex(Stores())

  /// The images of each store's files, by the number of the store.
  private struct Stores {
    var paths: [String] = []
    var numbers: [String: Int] = [:]
    var images: [[DurableImage]] = []
  }

  init(folder: URL, journal: URL) {
    self.folder = folder
    self.journal = journal
  }

  /// Applies the journal to the durable images and starts a new journal with the unsynced writes.
  ///
  /// Precondition: the process does not run.
  func absorbJournal() throws {
    try stores.withLock { stores in
      try replayJournal(&stores)
      try adoptOthers(&stores)
      try resetJournal { writer in
        for number in stores.images.indices {
          let name = DiskRecord(operation: .name, file: 0, database: number, offset: 0)
          try Array(stores.paths[number].utf8).withUnsafeBytes { try writer.append(name, $0) }
          for index in Self.suffixes.indices {
            try stores.images[number][index].writeUnsynced(number, index, to: &writer)
          }
        }
      }
    }
  }

  /// Cuts the power: the seed decides for each unsynced sector whether it survives.
  ///
  /// Precondition: the process does not run.
  ///
  /// - Returns: The number of unsynced bytes.
  @discardableResult
  func cutPower(_ seed: UInt64) throws -> Int {
    try stores.withLock { stores in
      try replayJournal(&stores)
      try adoptOthers(&stores)
      var random = IDSource(seed: seed)
      // Half of the power losses lose all unsynced sectors.
      let chance = Bool.random(using: &random) ? 0 : Double.random(in: 0...1, using: &random)
      var atRisk = 0
      for number in stores.images.indices {
        for index in Self.suffixes.indices {
          atRisk += try stores.images[number][index].cutPower(chance: chance, &random)
        }
      }
      try resetJournal()
      return atRisk
    }
  }

  /// Marks the files as synced after chaos itself has changed them.
  ///
  /// Precondition: the process does not run.
  func markSynced() throws {
    try stores.withLock { stores in
      try adoptOthers(&stores)
      for number in stores.images.indices {
        for index in Self.suffixes.indices { try stores.images[number][index].markSynced() }
      }
      try resetJournal()
    }
  }

  private func resetJournal(_ body: (inout DiskJournalWriter) throws -> Void = { _ in }) throws {
    let descriptor = try FileDescriptor.open(
      FilePath(journal.path), .writeOnly, options: [.create, .truncate],
      permissions: [.ownerReadWrite])
    defer { try? descriptor.close() }
    var writer = DiskJournalWriter(descriptor: descriptor)
    try body(&writer)
  }

  private func replayJournal(_ stores: inout Stores) throws {
    guard FileManager.default.fileExists(atPath: journal.path) else { return }
    let descriptor = try FileDescriptor.open(FilePath(journal.path), .readOnly)
    defer { try? descriptor.close() }
    var reader = try DiskJournalReader(descriptor)
    // The process counts its stores from zero, in the order of use.
    var numbers: [Int: Int] = [:]
    while let record = try reader.next() {
      if record.operation == .name {
        let path = try reader.text(of: record)
        numbers[record.database] = number(of: path, isNew: record.offset == 0, &stores)
      } else if let number = numbers[record.database], record.file < Self.suffixes.count {
        try stores.images[number][record.file].apply(record, in: descriptor)
      }
    }
  }

  /// The number of a store.
  ///
  /// - Parameter isNew: Whether the process created the store, so that the journal has all of it.
  private func number(of path: String, isNew: Bool = false, _ stores: inout Stores) -> Int {
    if let number = stores.numbers[path] { return number }
    let number = stores.paths.count
    stores.numbers[path] = number
    stores.paths.append(path)
    stores.images.append(
      Self.suffixes.indices.map { index in
        DurableImage(
          isJournalled: isNew, of: URL(fileURLWithPath: path + Self.suffixes[index]),
          image: URL(fileURLWithPath: "\(journal.path).durable-\(number)-\(index)"))
      })
    return number
  }

  /// Takes stores for durable that other programs have made, such as relayctl.
  private func adoptOthers(_ stores: inout Stores) throws {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() where name.hasSuffix(".sqlite") {
      let path = folder.appendingPathComponent(name).path
      guard stores.numbers[path] == nil else { continue }
      let number = number(of: path, &stores)
      for index in Self.suffixes.indices { try stores.images[number][index].markSynced() }
    }
  }
}
