import FamilyModel
import Foundation

/// What happens to the file of a dead process.
enum Damage {
  private static let suffixes = ["", "-wal"]

  /// Reads the file and what belongs to it.
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

  /// SQLite's mark of a page that holds rows of a table, as the relay's events.
  static let tableLeaf: UInt8 = 0x0D

  /// Bytes of rows in a page that is worth it: smaller ones are of other tables than the events'.
  static let leastRows = 1_000

  /// Flips bytes in the file: of rows in a page of this kind, or else the head of the first page after the
  /// schema. `false`: there is no such page yet.
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
      // Rows fill the page from its end; each has a sum.
      let rows = page + (Int(data[page + 5]) << 8 | Int(data[page + 6]))
      for _ in 0..<8 { data[.random(in: rows..<page + size, using: &random)] ^= 0x5A }
    }
    try data.write(to: file)
    return true
  }
}
