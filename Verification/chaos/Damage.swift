import FamilyModel
import Foundation

/// Damages, copies and removes the store files of a process that does not run.
enum Damage {
  /// Replaces the files of a store by those in another folder.
  static func replace(_ name: String, in folder: URL, by source: URL) throws {
    try remove(folder, name)
    for suffix in PowerLoss.suffixes {
      let copy = source.appendingPathComponent(name + suffix)
      if FileManager.default.fileExists(atPath: copy.path) {
        try FileManager.default.copyItem(at: copy, to: folder.appendingPathComponent(name + suffix))
      }
    }
  }

  static func remove(_ folder: URL, _ name: String) throws {
    for suffix in PowerLoss.suffixes {
      let file = folder.appendingPathComponent(name + suffix)
      if FileManager.default.fileExists(atPath: file.path) {
        try FileManager.default.removeItem(at: file)
      }
    }
  }

  /// SQLite's page type of a table leaf, which holds rows.
  private static let tableLeaf: UInt8 = 0x0D
  /// The minimum bytes of the header of an event's row: one for its length and one for each column.
  private static let eventHeader = 11

  /// The place of the flipped bytes.
  enum Place {
    /// The header of the first page after the schema.
    case structure
    /// Rows of events. They are never changed, so a page has no unused bytes between them.
    case events
  }

  /// Flips bytes in the file.
  ///
  /// - Returns: `false` if the file has no such page yet.
  static func flip(
    _ place: Place, in folder: URL, _ name: String, _ seed: UInt64
  ) throws -> Bool {
    let file = folder.appendingPathComponent(name)
    var random = IDSource(seed: seed)
    guard var data = try? Data(contentsOf: file), data.count > 100 else { return false }
    let size = Int(data[16]) << 8 | Int(data[17])
    let pages = stride(from: size, to: data.count, by: size)
    switch place {
    case .structure:
      guard data.count >= 2 * size else { return false }
      let page = size
      for offset in page..<page + 8 { data[offset] ^= 0xFF }
    case .events:
      let ofEvents = pages.filter { hasEvents(data[$0..<$0 + size]) }
      guard let page = ofEvents.randomElement(using: &random) else { return false }
      // Rows fill the page from its end; each has a checksum.
      let rows = page + (Int(data[page + 5]) << 8 | Int(data[page + 6]))
      for _ in 0..<8 { data[.random(in: rows..<page + size, using: &random)] ^= 0x5A }
    }
    try data.write(to: file)
    return true
  }

  /// Whether the page is a leaf of the events' table: its first row has as many columns as an event.
  private static func hasEvents(_ page: Data) -> Bool {
    let start = page.startIndex
    guard page[start] == tableLeaf, page[start + 3] != 0 || page[start + 4] != 0 else {
      return false
    }
    var position = start + (Int(page[start + 8]) << 8 | Int(page[start + 9]))
    // The lengths of the row and of its number.
    for _ in 0..<2 {
      while position < page.endIndex, page[position] >= 0x80 { position += 1 }
      position += 1
    }
    return position < page.endIndex && page[position] >= eventHeader
  }
}
