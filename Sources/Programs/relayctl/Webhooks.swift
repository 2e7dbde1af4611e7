import ArgumentParser
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import SystemClock
import TextTable

struct Webhooks: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show a gateway's webhooks; send dead letters again, or discard them.",
    discussion: "An event is a dead letter after 11 failed attempts. The gateway sends a retried "
      + "one before the queue, up to 3 times within a minute. After that, retry it again.")
  @Option(help: "The gateway's folder.") var directory: String
  @Option(
    help: .init("Send this dead letter again, or all of them.", valueName: "app:number|all"),
    transform: DeadLetterName.init)
  var retry: DeadLetterName?
  @Option(
    help: .init("Give up this dead letter, or all of them.", valueName: "app:number|all"),
    transform: DeadLetterName.init)
  var discard: DeadLetterName?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard retry == nil || discard == nil else {
      throw ValidationError("Give either --retry or --discard.")
    }
  }

  func run() throws {
    let file = URL(fileURLWithPath: directory).appendingPathComponent("gateway.sqlite")
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw ControlError(
        "'\(file.path)' does not exist. Give --directory the folder of a gateway.".printable)
    }
    do {
      let store = try SQLiteGatewayStore(path: file.path)
      if let retry {
        let count = try change(retry, store) { try store.retryDeadLetters(of: $0, number: $1) }
        report("The gateway sends \(letters(count)) again.")
      }
      if let discard {
        let count = try change(discard, store) {
          try store.discardDeadLetters(of: $0, number: $1)
        }
        report("The gateway gives up \(letters(count)). The feed still has the events.")
      }
      if retry == nil && discard == nil || output.json { try show(store) }
    } catch let error as StoreError {
      throw ControlError("\(error)")
    }
  }

  /// Changes the named dead letters.
  ///
  /// - Returns: Their number.
  private func change(
    _ name: DeadLetterName, _ store: SQLiteGatewayStore,
    _ change: (_ app: String, _ number: UInt64?) throws -> Int
  ) throws -> Int {
    var count = 0
    switch name {
    case .all: for app in try store.apps() { count += try change(app, nil) }
    case .one(let app, let number): count = try change(app, number)
    }
    guard count > 0 else {
      throw ControlError(
        "The gateway has no such dead letter. List them: relayctl webhooks --directory \(directory)"
          .printable)
    }
    return count
  }

  private func letters(_ count: Int) -> String {
    count == 1 ? "1 dead letter" : "\(count) dead letters"
  }

  private func report(_ text: String) {
    if !output.json { print(text) }
  }

  private func show(_ store: SQLiteGatewayStore) throws {
    var webhooks = Listing(
      columns: [
        .init("app"), .init("URL", "url"), .init("queue"), .init("next attempt", "nextAttempt"),
        .init("failures"), .init("last failure", "lastFailure"),
        .init("dead letters", "deadLetters"),
      ])
    var letters = Listing(columns: DeadLetterRow.columns)
    for app in try store.apps() {
      let dead = try store.deadLetters(of: app).map { DeadLetterRow($0).cells }
      let next = try store.nextDelivery(of: app)
      guard let url = try store.webhook(of: app) else { continue }
      letters.rows += dead
      let keys = DeadLetterRow.columns.map(\.key)
      webhooks.rows.append([
        .text(app), .text(url), .number(UInt64(try store.queued(of: app))),
        next.map(Cell.due) ?? .none, next.map { .number(UInt64($0.failures)) } ?? .none,
        next?.reason.map { .text($0) } ?? .none,
        .shown(
          "\(dead.count)",
          .list(dead.map { .object(Dictionary(uniqueKeysWithValues: zip(keys, $0))) })),
      ])
    }
    output.show(webhooks, empty: "No app's manifest has a webhook.")
    if !output.json, !letters.rows.isEmpty {
      print("\nDead letters (--retry or --discard APP:NUMBER, or all):")
      print(letters.table)
    }
  }
}

/// One line of the list of dead letters, without the content of the event.
private struct DeadLetterRow {
  static let columns: [Listing.Column] = [
    .init("event"), .init(nil, "number"), .init("type"), .init("since"), .init("failures"),
    .init("last failure", "lastFailure"), .init("retried", "isRetried"),
  ]
  let cells: [Cell]

  init(_ letter: SQLiteGatewayStore.DeadLetter) {
    cells = [
      .text("\(letter.event.app):\(letter.event.number)"), .number(letter.event.number),
      .text(letter.event.type), .time(letter.at), .number(UInt64(letter.failures)),
      .text(letter.reason), .flag(letter.isRetried),
    ]
  }
}

extension Cell {
  /// The time of the next attempt. A new event has no such time and is due at once.
  fileprivate static func due(_ delivery: SQLiteGatewayStore.Delivery) -> Cell {
    let time = Cell.time(max(delivery.due, delivery.event.time))
    return .shown(delivery.due <= .now ? "now" : time.text, time)
  }
}

/// The dead letters that the operator names: one, or all.
enum DeadLetterName {
  case all
  case one(app: String, number: UInt64)

  init(_ text: String) throws {
    if text == "all" {
      self = .all
      return
    }
    guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
      let number = UInt64(text[text.index(after: colon)...])
    else {
      throw ValidationError(
        "Name a dead letter as APP:NUMBER, for example example.landmarks:12, or all; not '\(text)'."
      )
    }
    self = .one(app: String(text[..<colon]), number: number)
  }
}
