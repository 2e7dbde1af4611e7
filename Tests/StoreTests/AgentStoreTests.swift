import Foundation
import GRDB
import RelayStore
import SQLiteStore
import TestDisk
import Testing

@Suite struct AgentStoreTests {
  @Test(
    "a device's records load by prefix in the order of their keys",
    arguments: Engine.allCases)
  func records(_ engine: Engine) throws {
    let folder = try Folder()
    let store = try engine.openAgentStore(folder.path("agent"))
    try store.apply([
      Change(key: [1, 2], value: [20]), Change(key: [1, 1], value: [10]),
      Change(key: [2], value: [30]), Change(key: [1, 3], value: [40]),
    ])
    try store.apply([Change(key: [1, 3], value: nil), Change(key: [1, 2], value: [21])])
    let found = try store.load(prefix: [1])
    #expect(found.map(\.key) == [[1, 1], [1, 2]])
    #expect(found.map(\.value) == [[10], [21]])
    store.close()
  }

  @Test("A3: a device's commit calls fdatasync once before it returns")
  func synchronises() throws {
    let folder = try Folder()
    let store = try SQLiteAgentStore(path: folder.path("agent"))
    for number: UInt8 in 1...50 {
      let before = counted_fdatasync()
      try store.apply([Change(key: [number], value: [1])])
      #expect(counted_fdatasync() - before == 1)
    }
  }

  @Test("O11: records load after a key", arguments: Engine.allCases)
  func after(_ engine: Engine) throws {
    let folder = try Folder()
    let store = try engine.openAgentStore(folder.path("agent"))
    try store.apply(
      (0...5).map { Change(key: [1, $0], value: [$0]) } + [Change(key: [2], value: [])])
    #expect(
      try store.load(prefix: [1], after: [1, 3], skipping: nil).map(\.key) == [[1, 4], [1, 5]])
    #expect(
      try store.load(prefix: [1], after: [1, 3, 0], skipping: nil).map(\.key) == [[1, 4], [1, 5]])
    #expect(try store.load(prefix: [1], after: [], skipping: nil).count == 6)
    #expect(try store.load(prefix: [1], after: [1, 5], skipping: nil).isEmpty)
    store.close()
  }

  @Test("O11: a salvage keeps the records that are whole, and the damaged file")
  func salvage() throws {
    let folder = try Folder()
    let path = folder.path("agent")
    let store = try SQLiteAgentStore(path: path)
    try store.apply((0...9).map { Change(key: [1, $0], value: [$0]) })
    store.close()
    let queue = try DatabaseQueue(path: path)
    try queue.inDatabase {
      try $0.execute(sql: "UPDATE record SET value = x'FF' WHERE key = x'0104'")
    }
    try queue.close()
    #expect(throws: StoreError.self) {
      let damaged = try SQLiteAgentStore(path: path)
      defer { damaged.close() }
      _ = try damaged.load(prefix: [1])
    }
    let result = try SQLiteAgentStore.salvage(path: path)
    #expect(result.kept == 9 && result.lost == 1 && !result.isPartial)
    #expect(FileManager.default.fileExists(atPath: result.damaged))
    let whole = try SQLiteAgentStore(path: path)
    #expect(try whole.load(prefix: [1]).map(\.value) == [0, 1, 2, 3, 5, 6, 7, 8, 9].map { [$0] })
    whole.close()
    #expect(try SQLiteAgentStore.salvage(path: path).kept == 9)
  }

  @Test("O11: a salvage reads a file with a broken page from both ends")
  func brokenPage() throws {
    let folder = try Folder()
    let path = folder.path("agent")
    let store = try SQLiteAgentStore(path: path)
    let value = [UInt8](repeating: 7, count: 500)
    try store.apply((0...255).map { Change(key: [1, $0], value: value) })
    store.close()
    // Overwrites a page in the middle of the table.
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: 4_096 * 15)
    try file.write(contentsOf: Data(repeating: 0xAA, count: 4_096))
    try file.close()
    let result = try SQLiteAgentStore.salvage(path: path)
    #expect(result.isPartial && result.kept >= 200 && result.kept < 256)
    let whole = try SQLiteAgentStore(path: path)
    #expect(try whole.load(prefix: [1]).count == result.kept)
    whole.close()
  }

  @Test("refuses an agent's file of another version")
  func version() throws {
    let folder = try Folder()
    try SQLiteAgentStore(path: folder.path("agent")).close()
    for other in [2, 4] {
      let queue = try DatabaseQueue(path: folder.path("agent"))
      try queue.inDatabase { try $0.execute(sql: "PRAGMA user_version = \(other)") }
      try queue.close()
      let error = #expect(throws: StoreError.self) {
        try SQLiteAgentStore(path: folder.path("agent"))
      }
      #expect(error?.description.contains("version \(other)") ?? false)
    }
  }
}
