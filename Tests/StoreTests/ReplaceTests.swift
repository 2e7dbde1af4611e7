import FamilyModel
import Foundation
import RelayStore
import Testing

@testable import SQLiteStore

/// Erasing payloads in a store.
@Suite struct ReplaceTests {
  private static let secret = Array("the words of a text that is erased".utf8)

  private func stored(_ seq: UInt64) -> StoredEvent {
    var event = event(1, seq)
    event.payload = (0..<40).flatMap { _ in Self.secret }
    return event
  }

  private func isInFile(_ folder: Folder, _ name: String) throws -> Bool {
    try Data(contentsOf: URL(fileURLWithPath: folder.path(name))).range(of: Data(Self.secret))
      != nil
  }

  @Test("O6: replaced payloads leave the file, copies and logs, and the store is whole")
  func replaced() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    for seq: UInt64 in 1...130 { try store.commit(batch([stored(seq)])) }
    var changes: [Int: StoredEvent] = [:]
    for number in 1...130 {
      var event = stored(UInt64(number))
      event.payload = [UInt8(number)]
      changes[number] = event
    }
    try store.replace(changes)
    let family = try store.load(FamilyID(1))
    #expect(family.events.map(\.payload) == (1...130).map { [UInt8($0)] })
    try store.check(whole: .max)
    // A backup and a shipped log of the store have the new payloads.
    while try !store.copyPart(to: folder.path("copy"), room: .max).isComplete {}
    let copy = try SQLiteEventStore(path: folder.path("copy"))
    #expect(try copy.load(FamilyID(1)) == family)
    try copy.check(whole: .max)
    copy.close()
    let log = try store.log(after: 0, limit: .max, bytes: .max)
    #expect(log.records == family.events.map { .event($0) })
    store.close()
    for name in ["a", "copy"] { #expect(try !isInFile(folder, name)) }
    let again = try SQLiteEventStore(path: folder.path("a"))
    #expect(try again.load(FamilyID(1)) == family)
    again.close()
  }
}
