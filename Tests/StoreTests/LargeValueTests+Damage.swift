import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import Testing

/// Damaged files with large values.
extension LargeValueTests {
  @Test("O2: a damaged large value is found, and a salvage keeps the other records")
  func damage() throws {
    try withStore { store in
      try store.apply([
        Change(key: [1, 1], value: [5]), Change(key: Self.key, value: Self.bytes(1)),
        Change(key: [2], value: Self.bytes(2)),
      ])
    }
    try execute("UPDATE large SET sum = sum + 1 WHERE key = x'0128'")
    try withStore { (store) throws in
      #expect(throws: StoreError.self) { try store.load(prefix: [1]) }
      #expect(throws: StoreError.self) {
        try store.read(Self.key) { _ = try [UInt8]($0, from: $1) }
      }
      // A reader that stops has read nothing that it trusts.
      #expect(try store.read(Self.key) { _, _ in })
      #expect(try store.load(prefix: [1], after: [1], skipping: Self.key).map(\.value) == [[5]])
    }
    let result = try SQLiteAgentStore.salvage(path: path)
    #expect(result.kept == 2 && result.lost == 1)
    try withStore { (store) throws in
      #expect(try store.load(prefix: []).map(\.value) == [[5], Self.bytes(2)])
    }
  }

  /// Overwrites pages of the closed file.
  private func breakPages(_ pages: [Int]) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    for page in pages {
      try file.seek(toOffset: UInt64(4_096 * (page - 1)))
      try file.write(contentsOf: Data(repeating: 0xAA, count: 4_096))
    }
  }

  @Test(
    "O2: a salvage keeps all other records if the table of large values or its index is broken",
    arguments: ["large", "sqlite_autoindex_large_1"])
  func brokenTable(_ name: String) throws {
    let small: [[UInt8]] = [[1, 1], [2], [3, 1], [4]]
    try withStore { store in
      try store.apply(
        small.map { Change(key: $0, value: $0) }
          + [Self.key, [3, 40]].map { Change(key: $0, value: Self.bytes(1)) })
    }
    let root = try #require(try query("SELECT rootpage FROM sqlite_master WHERE name = '\(name)'"))
    try breakPages([root])
    let result = try SQLiteAgentStore.salvage(path: path)
    #expect(result.kept >= small.count && !result.isPartial)
    try withStore { (store) throws in
      #expect(try store.load(prefix: []).filter { !$0.value.isEmpty }.map(\.key) == small)
    }
  }

  @Test("O2: a salvage keeps the records between two large values that cannot be read")
  func brokenValues() throws {
    let small: [[UInt8]] = [[1, 1], [2], [3, 1], [4]]
    try withStore { store in
      try store.apply(small.map { Change(key: $0, value: $0) })
      try store.apply([Self.key, [3, 40]].map { Change(key: $0, value: Self.bytes(1)) })
    }
    // Each page of a value names the next one. The last pages of the file are those of the values.
    let pages = try #require(try query("PRAGMA page_count"))
    try breakPages(Array((pages - 1_500)...pages))
    let result = try SQLiteAgentStore.salvage(path: path)
    #expect(result.kept == 4 && result.lost == 2 && !result.isPartial)
    try withStore { (store) throws in
      #expect(try store.load(prefix: []).map(\.key) == small)
    }
  }
}
