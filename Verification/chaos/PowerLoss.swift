import FamilyModel
import Foundation
import SystemPackage

/// Simulates power loss on the disk of one process, which may have several stores.
///
/// The process's shim journals the former bytes of each change until a sync. In a power loss each
/// unsynced sector survives or not. A kill loses nothing, because the page cache outlives it.
///
/// The work is proportional to the unsynced bytes.
struct PowerLoss: Sendable {
  /// The files of a store.
  static let suffixes = ["", "-wal", "-journal"]

  /// The file for `CHAOS_JOURNAL`.
  let journal: URL

  /// The unsynced changes of each store's files, by the number of the store.
  private struct Stores {
    var paths: [String] = []
    var changes: [[UnsyncedChanges]] = []
  }

  /// Rewrites the journal, so that it has the unsynced changes alone.
  ///
  /// Precondition: the process does not run.
  func absorbJournal() throws {
    try withStores { stores, old in
      try replaceJournal { writer in
        for (number, path) in stores.paths.enumerated() {
          let name = DiskRecord(operation: .name, file: 0, database: number)
          try writer.append(name, Array(path.utf8))
          for (index, changes) in stores.changes[number].enumerated() {
            try changes.write(number, index, from: old, to: &writer)
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
    var random = IDSource(seed: seed)
    // Half of the power losses lose all unsynced sectors.
    let chance = Bool.random(using: &random) ? 0 : Double.random(in: 0...1, using: &random)
    var atRisk = 0
    try withStores { stores, journal in
      for changes in stores.changes.joined() {
        atRisk += try changes.cutPower(chance: chance, in: journal, &random)
      }
    }
    try markSynced()
    return atRisk
  }

  /// Marks the files as synced after chaos itself has changed them.
  ///
  /// Precondition: the process does not run.
  func markSynced() throws { try replaceJournal() }

  private func replaceJournal(_ body: (inout DiskJournalWriter) throws -> Void = { _ in }) throws {
    // The former journal is read while the new one is written.
    try? FileManager.default.removeItem(at: journal)
    let descriptor = try FileDescriptor.open(
      FilePath(journal.path), .writeOnly, options: [.create, .exclusiveCreate],
      permissions: [.ownerReadWrite])
    defer { try? descriptor.close() }
    var writer = DiskJournalWriter(descriptor: descriptor)
    try body(&writer)
  }

  private func withStores(_ body: (Stores, _ journal: FileDescriptor) throws -> Void) throws {
    guard FileManager.default.fileExists(atPath: journal.path) else { return }
    let descriptor = try FileDescriptor.open(FilePath(journal.path), .readOnly)
    defer { try? descriptor.close() }
    var reader = try DiskJournalReader(descriptor)
    var stores = Stores()
    // A process counts its stores from zero, in the order of use.
    var numbers: [Int: Int] = [:]
    while let record = try reader.next() {
      if record.operation == .name {
        numbers[record.database] = number(of: try reader.text(of: record), &stores)
      } else if let number = numbers[record.database], record.file < Self.suffixes.count {
        stores.changes[number][record.file].apply(record)
      }
    }
    try body(stores, descriptor)
  }

  private func number(of path: String, _ stores: inout Stores) -> Int {
    if let number = stores.paths.firstIndex(of: path) { return number }
    stores.paths.append(path)
    stores.changes.append(
      Self.suffixes.map { UnsyncedChanges(of: URL(fileURLWithPath: path + $0)) })
    return stores.paths.count - 1
  }
}
