import FamilyModel
import Foundation
import GRDB
import RelayStore
import SQLiteStore
import Testing

/// Today's programs beside the stores of each released version. A roll-back needs no own step: no store
/// changes its format at an upgrade.
@Suite struct RollBackTests {
  private static let golden = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Golden")

  /// The tables and the version of a store, which a release checks when it opens the store.
  private struct Format: Equatable {
    var application: Int32
    var version: Int32
    var tables: [String]

    init(_ path: String) throws {
      (application, version, tables) = try DatabaseQueue(path: path).read { db in
        (
          try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0,
          try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0,
          try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            .sorted()
        )
      }
    }
  }

  /// The paths of a store of each released version, as a copy.
  private func copies(of name: String, in folder: Folder) throws -> [String] {
    let versions = try FileManager.default.contentsOfDirectory(
      at: Self.golden, includingPropertiesForKeys: nil)
    return try versions.map { version in
      let copy = folder.path("\(version.lastPathComponent)-\(name)")
      try FileManager.default.copyItem(
        at: version.appendingPathComponent(name), to: URL(fileURLWithPath: copy))
      return copy
    }
  }

  @Test("O5: the relay leaves a released version's store in its format, so that it opens again")
  func relay() throws {
    let folder = try Folder()
    let new = folder.path("relay.sqlite")
    let paths = try copies(of: "relay.sqlite", in: folder)
    #expect(!paths.isEmpty)
    for (family, path) in zip(UInt64(9_000)..., paths) {
      let before = try Format(path)
      for file in [path, new] {
        let store = try SQLiteEventStore(path: file)
        try store.check()
        try store.commit(batch([event(family, 1)]))
        store.close()
      }
      #expect(try Format(path) == before)
      #expect(try Format(new) == before)
    }
  }

  @Test("O5: devices and apps leave a released version's stores in their format")
  func agent() throws {
    let folder = try Folder()
    let new = folder.path("agent.sqlite")
    let paths = try copies(of: "agent.sqlite", in: folder) + copies(of: "app.sqlite", in: folder)
    #expect(!paths.isEmpty)
    for path in paths {
      let before = try Format(path)
      for file in [path, new] {
        let store = try SQLiteAgentStore(path: file)
        try store.apply([Change(key: Array("roll back".utf8), value: [1])])
        store.close()
      }
      #expect(try Format(path) == before)
      #expect(try Format(new) == before)
    }
  }
}
