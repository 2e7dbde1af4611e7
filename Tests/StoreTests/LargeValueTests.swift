import FamilyModel
import Foundation
import GRDB
import RelayStore
import SQLiteStore
import TestDisk
import Testing

/// Values of an agent's store that are longer than any message: snapshots of devices.
@Suite struct LargeValueTests {
  let folder: Folder
  var path: String { folder.path("agent") }
  static let key: [UInt8] = [1, 40]

  init() throws { folder = try Folder() }

  /// Three frames of bytes that differ by place.
  static func bytes(_ seed: UInt8) -> [UInt8] {
    (0..<3 * Limits.frameBytes).map { UInt8(truncatingIfNeeded: $0 / 251) &+ seed }
  }

  func withStore<Result>(_ body: (SQLiteAgentStore) throws -> Result) throws -> Result {
    let store = try SQLiteAgentStore(path: path)
    defer { store.close() }
    return try body(store)
  }

  /// The value, as a whole and read in parts.
  func value(_ store: SQLiteAgentStore) throws -> [UInt8]? {
    let whole = try store.load(prefix: Self.key).first?.value
    var parts: [UInt8] = []
    let isFound = try store.read(Self.key) { count, next in
      for start in stride(from: 0, to: count, by: 100_000) {
        parts += try [UInt8](min(100_000, count - start), from: next)
      }
    }
    #expect(isFound == (whole != nil) && parts == whole ?? [])
    return whole
  }

  /// The result of a query by another program.
  func query(_ sql: String) throws -> Int? {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase { try Int.fetchOne($0, sql: sql) }
  }

  func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    try queue.inDatabase { try $0.execute(sql: sql) }
  }

  @Test("O11: a large value is replaced, shortened and removed as any other")
  func changes() throws {
    for values in [[Self.bytes(1), Self.bytes(2)], [Self.bytes(1), [7]], [[7], Self.bytes(1)]] {
      for value in values {
        try withStore { try $0.apply([Change(key: Self.key, value: value)]) }
        #expect(try withStore(self.value) == value)
      }
      // In one run of the program.
      try withStore { store in
        for value in values {
          try store.apply([Change(key: Self.key, value: value)])
          #expect(try self.value(store) == value)
        }
        try store.apply([Change(key: Self.key, value: nil)])
        #expect(try self.value(store) == nil)
      }
      #expect(try withStore(value) == nil)
      #expect(try query("SELECT count(*) FROM large") == 0)
    }
  }

  @Test("O11: no search reads a large value, because its record is empty")
  func records() throws {
    try withStore { store in
      try store.apply([
        Change(key: [1, 39], value: [1]), Change(key: Self.key, value: Self.bytes(1)),
        Change(key: [1, 41], value: [UInt8](repeating: 2, count: Limits.frameBytes)),
      ])
    }
    #expect(try query("SELECT length(value) FROM record WHERE key = x'0128'") == 0)
    #expect(try query("SELECT max(length(value)) FROM record") == Limits.frameBytes)
    #expect(try query("SELECT count(*) FROM large") == 1)
    try withStore { (store) throws in
      let sizes = try store.load(prefix: [1]).map(\.value.count)
      #expect(sizes == [1, 3 * Limits.frameBytes, Limits.frameBytes])
    }
  }

  @Test("O5: a version without large values replaces or removes one")
  func olderVersion() throws {
    for change in ["DELETE FROM record", "UPDATE record SET value = x'07', sum = 0"] {
      try withStore { try $0.apply([Change(key: Self.key, value: Self.bytes(1))]) }
      try execute(change)
      try withStore { _ in }
      #expect(try query("SELECT count(*) FROM large") == 0)
      try execute("DELETE FROM record")
    }
    // A file of such a version.
    try withStore { try $0.apply([Change(key: [1], value: [2])]) }
    try execute("DROP TABLE large")
    try withStore { store in
      #expect(try store.load(prefix: [1]).map(\.value) == [[2]])
      try store.apply([Change(key: Self.key, value: Self.bytes(3))])
      #expect(try value(store) == Self.bytes(3))
    }
  }

  @Test(
    "O3: a commit of a large value to a full disk changes nothing", arguments: [0, 1, 2, 100])
  func full(_ writes: Int) throws {
    try withStore { store in
      try store.apply([Change(key: [1], value: [1])])
      fail_pwrite_after(writes)
      #expect(throws: StoreError.full) {
        try store.apply([Change(key: Self.key, value: Self.bytes(1))])
      }
      fail_pwrite_after(-1)
      #expect(try value(store) == nil)
      try store.apply([Change(key: Self.key, value: [3]), Change(key: [1], value: nil)])
      #expect(try value(store) == [3])
      try store.apply([Change(key: Self.key, value: Self.bytes(1))])
      #expect(try value(store) == Self.bytes(1))
    }
  }

  @Test("O11: the error of a reader ends the reading")
  func readerError() throws {
    struct Stop: Error {}
    try withStore { store in
      try store.apply([
        Change(key: [1], value: [1]), Change(key: Self.key, value: Self.bytes(1)),
      ])
      for key in [[1], Self.key] {
        #expect(throws: StoreError.self) { try store.read(key) { _, _ in throw Stop() } }
      }
      #expect(try value(store) == Self.bytes(1))
      #expect(try !store.read([9]) { _, _ in })
    }
  }
}
