import FamilyModel
import Foundation

/// Damages, saves and restores the store files of a process that does not run.
enum Damage {
  private static let suffixes = ["", "-wal"]

  /// Reads the database file and its write-ahead log.
  static func copy(_ folder: URL, _ name: String) throws -> [Data?] {
    suffixes.map { try? Data(contentsOf: folder.appendingPathComponent(name + $0)) }
  }

  static func restore(_ copy: [Data?], in folder: URL, _ name: String) throws {
    for (suffix, data) in zip(suffixes, copy) {
      let file = folder.appendingPathComponent(name + suffix)
      if let data {
        try data.write(to: file)
      } else {
        try? FileManager.default.removeItem(at: file)
      }
    }
  }

  static func remove(_ folder: URL, _ name: String) throws {
    for suffix in suffixes {
      let file = folder.appendingPathComponent(name + suffix)
      if FileManager.default.fileExists(atPath: file.path) {
        try FileManager.default.removeItem(at: file)
      }
    }
  }

  /// SQLite's page type of a table leaf, which holds rows.
  static let tableLeaf: UInt8 = 0x0D

  /// The minimum bytes of rows in a damaged page. Pages with fewer belong to tables other than the
  /// events'.
  static let leastRows = 1_000

  /// Flips bytes in the file: in the rows of a page of this type, or for `nil` in the header of the
  /// first page after the schema.
  ///
  /// - Returns: `false` if the file has no such page yet.
  static func flip(_ kind: UInt8?, in folder: URL, _ name: String, _ seed: UInt64) throws -> Bool {
    let file = folder.appendingPathComponent(name)
    var random = IDSource(seed: seed)
    guard var data = try? Data(contentsOf: file), data.count > 100 else { return false }
    let size = Int(data[16]) << 8 | Int(data[17])
    func isWanted(_ page: Int) -> Bool {
      guard let kind else { return page > 0 }
      let rows = Int(data[page + 5]) << 8 | Int(data[page + 6])
      return data[page] == kind && rows > 0 && rows < size - leastRows
    }
    let pages = stride(from: size, to: data.count, by: size).filter(isWanted)
    guard let page = kind == nil ? pages.first : pages.randomElement(using: &random) else {
      return false
    }
    if kind == nil {
      for offset in page..<page + 8 { data[offset] ^= 0xFF }
    } else {
      // Rows fill the page from its end; each has a checksum.
      let rows = page + (Int(data[page + 5]) << 8 | Int(data[page + 6]))
      for _ in 0..<8 { data[.random(in: rows..<page + size, using: &random)] ^= 0x5A }
    }
    try data.write(to: file)
    return true
  }
}
