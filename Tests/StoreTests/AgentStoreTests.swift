import Foundation
import GRDB
import RelayStore
import SQLiteStore
import TestDisk
import Testing

@Suite struct AgentStoreTests {
  @Test(
    "a device's records load by prefix in the order of their keys",
    arguments: StoreKind.allCases)
  func records(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store: any AgentStore =
      switch kind {
      case .memory: MemoryAgentStore()
      case .sqlite: try SQLiteAgentStore(path: folder.path("agent"))
      }
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
