import FamilyModel
import Foundation
import SQLiteStore
import Testing

/// `relayctl webhooks`, beside the store of a gateway.
@Suite(.timeLimit(.minutes(10))) struct WebhooksTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("webhooks-\(UUID().uuidString.prefix(8))")
  private let app = "example.landmarks"
  private let time = Instant(milliseconds: 1_795_539_600_000)

  /// A store with a dead letter, a failing event and a queued one. The gateway has it open.
  private func store() throws -> SQLiteGatewayStore {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = try SQLiteGatewayStore(
      path: folder.appendingPathComponent("gateway.sqlite").path)
    try store.setWebhook("https://example.com/hook", of: app)
    try store.setWebhook(nil, of: "example.other")
    _ = try store.append(
      ["response", "handles.known", "consent.given"].map {
        .init(type: $0, time: time, data: #"{"secret":"dragonslayer42"}"#)
      }, to: app)
    for _ in 0..<10 {
      let next = try #require(try store.nextDelivery(of: app))
      try store.recordFailure(next, nextAttempt: time, reason: "status 503")
    }
    let last = try #require(try store.nextDelivery(of: app))
    try store.recordDead(last, at: time, reason: "status 500")
    let next = try #require(try store.nextDelivery(of: app))
    let later = Instant(milliseconds: 4_102_444_800_000)
    try store.recordFailure(next, nextAttempt: later, reason: "redirect\u{1B}[31m")
    return store
  }

  private func relayctl(_ arguments: String...) async throws -> Outcome {
    try await RelayControlFixture.run(
      "relayctl", ["webhooks", "--directory", folder.path] + arguments)
  }

  @Test("S1: queues, failures and dead letters of a running gateway, without their content")
  func lists() async throws {
    let store = try store()
    let table = try await relayctl()
    #expect(table.isSuccess, "\(table.error)")
    #expect(
      table.words[1] == [
        app, "https://example.com/hook", "2", "2100-01-01", "00:00:00", "1", "redirect\u{FFFD}[31m",
        "1",
      ])
    #expect(
      table.words.last == [
        "\(app):1", "response", "2026-11-24", "17:00:00", "11", "status", "500", "no",
      ])
    #expect(!table.output.contains("dragonslayer42") && !table.output.contains("\u{1B}"))

    let rows = try await relayctl("--json").objects
    #expect(rows.count == 1 && rows[0]["app"] as? String == app)
    #expect(rows[0]["queue"] as? Int == 2 && rows[0]["failures"] as? Int == 1)
    #expect(rows[0]["nextAttempt"] as? String == "2100-01-01T00:00:00.000Z")
    let letter = try #require((rows[0]["deadLetters"] as? [[String: Any]])?.first)
    #expect(letter["number"] as? Int == 1 && letter["failures"] as? Int == 11)
    #expect(letter["lastFailure"] as? String == "status 500")
    #expect(letter["isRetried"] as? Bool == false)
    store.close()
    // The gateway does not run.
    #expect(try await relayctl().output == table.output)
    try FileManager.default.removeItem(at: folder)
  }

  @Test("S1: a dead letter is sent again before the queue, or given up")
  func changes() async throws {
    let store = try store()
    let retried = try await relayctl("--retry", "\(app):1")
    #expect(retried.output == "The gateway sends 1 dead letter again.\n", "\(retried.error)")
    let next = try #require(try store.nextDelivery(of: app))
    #expect(next.event.number == 1 && next.isRetried && next.failures == 0)
    let rows = try await relayctl("--retry", "all", "--json").objects
    let letter = try #require((rows[0]["deadLetters"] as? [[String: Any]])?.first)
    #expect(letter["isRetried"] as? Bool == true)

    let discarded = try await relayctl("--discard", "\(app):1")
    #expect(
      discarded.output
        == "The gateway gives up 1 dead letter. The feed still has the events.\n")
    // An attempt that runs meanwhile does not bring the letter back.
    try store.recordDead(next, at: time, reason: "status 500")
    #expect(try store.deadLetters(of: app) == [])
    #expect(try store.nextDelivery(of: app)?.event.number == 2)
    #expect(try store.events(of: app, after: 0, limit: 9).count == 3)
    for option in ["--retry", "--discard"] {
      for name in ["all", "\(app):1", "unknown:1"] {
        let outcome = try await relayctl(option, name)
        #expect(!outcome.isSuccess && outcome.error.contains("no such dead letter"))
      }
    }
    try FileManager.default.removeItem(at: folder)
  }

  @Test("S1: a wrong folder, another file and a wrong name have an explanation")
  func wrong() async throws {
    let missing = try await relayctl()
    #expect(!missing.isSuccess && missing.error.contains("Give --directory the folder"))
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("no database of a gateway, but a text".utf8)
      .write(to: folder.appendingPathComponent("gateway.sqlite"))
    let other = try await relayctl("--json")
    #expect(!other.isSuccess && other.output == "" && other.error.hasPrefix("Error: "))
    for name in ["12", ":12", "example.landmarks:", "example.landmarks:-1", "example.landmarks:x"] {
      let outcome = try await relayctl("--retry", name)
      #expect(outcome.code == 64 && outcome.error.contains("APP:NUMBER"), "\(name)")
    }
    #expect(try await relayctl("--retry", "all", "--discard", "all").code == 64)
    try FileManager.default.removeItem(at: folder)
  }

  @Test("S1: a gateway without webhooks has a sentence, and an empty list for programs")
  func none() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    _ = try SQLiteGatewayStore(path: folder.appendingPathComponent("gateway.sqlite").path)
    #expect(try await relayctl().output == "No app's manifest has a webhook.\n")
    #expect(try await relayctl("--json").output == "[\n\n]\n")
    try FileManager.default.removeItem(at: folder)
  }
}
