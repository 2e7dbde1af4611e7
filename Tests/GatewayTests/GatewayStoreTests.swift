import FamilyModel
import Foundation
import RelayStore
import Testing

@testable import SQLiteStore

@Suite struct GatewayStoreTests {
  private let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("gateway-\(UUID().uuidString).sqlite").path

  private func event(_ text: String, source: String? = nil) -> SQLiteGatewayStore.NewEvent {
    .init(type: "response", time: Instant(milliseconds: 5), data: "\"\(text)\"", source: source)
  }

  @Test("X5: the log numbers the events of each app, and ignores a repeated entry")
  func numbers() throws {
    let store = try SQLiteGatewayStore(path: path)
    #expect(
      try store.append([event("a", source: "1"), event("b")], to: "x").map(\.number) == [1, 2])
    #expect(try store.append([event("a", source: "1")], to: "x") == [])
    #expect(try store.append([event("a", source: "1")], to: "y").map(\.number) == [1])
    #expect(try store.append([event("c")], to: "x").map(\.number) == [3])
    #expect(try store.events(of: "x", after: 1, limit: 5).map(\.data) == ["\"b\"", "\"c\""])
    #expect(try store.newest(of: "x") == 3 && store.newest(of: "z") == 0)
  }

  @Test("X5: events, positions and the log's name survive a restart")
  func restart() throws {
    let store = try SQLiteGatewayStore(path: path)
    _ = try store.append(
      [event("a"), event("b")], to: "x", state: [.set("k", "v"), .set("l", "w")])
    _ = try store.append([], to: "x", state: [.remove("l")])
    try store.acknowledge(through: 2, of: "x")
    try store.acknowledge(through: 1, of: "x")
    let id = store.id
    store.close()
    let again = try SQLiteGatewayStore(path: path)
    #expect(again.id == id && id.count == 16)
    #expect(try again.acknowledged(by: "x") == 2)
    #expect(try again.state(of: "x") == ["k": "v"])
    #expect(try again.append([event("c")], to: "x").map(\.number) == [3])
    #expect(try SQLiteGatewayStore(path: path + "2").id != id)
  }

  @Test("S1: a dead letter leaves the queue, and a retried one comes first")
  func deadLetters() throws {
    let store = try SQLiteGatewayStore(path: path)
    _ = try store.append([event("a"), event("b")], to: "x")
    let first = try #require(try store.nextDelivery(of: "x"))
    try store.recordFailure(first, nextAttempt: Instant(milliseconds: 9), reason: "503")
    let again = try #require(try store.nextDelivery(of: "x"))
    #expect(again.failures == 1 && again.due == Instant(milliseconds: 9) && again.reason == "503")
    try store.recordDead(again, at: Instant(milliseconds: 10), reason: "500")
    #expect(try store.nextDelivery(of: "x")?.event.number == 2)
    #expect(try store.nextDelivery(of: "x")?.failures == 0)
    #expect(try store.deadLetters(of: "x").map(\.reason) == ["500"])
    #expect(try store.retryDeadLetters(of: "x", number: 2) == 0)
    #expect(try store.retryDeadLetters(of: "x", number: 1) == 1)
    let retried = try #require(try store.nextDelivery(of: "x"))
    #expect(retried.isRetried && retried.event.number == 1 && retried.failures == 0)
    try store.recordDelivered(retried)
    #expect(try store.deadLetters(of: "x") == [])
    let second = try #require(try store.nextDelivery(of: "x"))
    try store.recordDelivered(second)
    #expect(try store.nextDelivery(of: "x") == nil)
    #expect(try store.queued(of: "x") == 0)
  }

  @Test("S1: old events that a reader still needs are kept") func removal() throws {
    let store = try SQLiteGatewayStore(path: path)
    _ = try store.append([event("a"), event("b"), event("c")], to: "x")
    try store.setWebhook("https://example.com/", of: "x")
    try store.acknowledge(through: 2, of: "x")
    let later = Instant(milliseconds: 100)
    try store.removeEvents(of: "x", before: later)
    #expect(try store.events(of: "x", after: 0, limit: 9).count == 3, "the webhook needs them")
    let first = try #require(try store.nextDelivery(of: "x"))
    try store.recordDead(first, at: later, reason: "500")
    try store.recordDelivered(try #require(try store.nextDelivery(of: "x")))
    try store.removeEvents(of: "x", before: Instant(milliseconds: 5))
    #expect(try store.events(of: "x", after: 0, limit: 9).count == 3, "none is old enough")
    try store.removeEvents(of: "x", before: later)
    #expect(try store.events(of: "x", after: 0, limit: 9).map(\.number) == [1, 3])
    #expect(try store.append([event("d")], to: "x").map(\.number) == [4])
  }

  @Test("S1: another process reads and changes the queue while the gateway runs") func shared()
    throws
  {
    let store = try SQLiteGatewayStore(path: path)
    _ = try store.append([event("a")], to: "x")
    let other = try SQLiteGatewayStore(path: path)
    try other.recordDead(
      try #require(try other.nextDelivery(of: "x")), at: Instant(milliseconds: 1), reason: "gone")
    #expect(try store.deadLetters(of: "x").map(\.reason) == ["gone"])
    #expect(throws: StoreError.self) {
      _ = try SQLiteAgentStore(path: path)
    }
  }
}
