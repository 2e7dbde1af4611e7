import FamilyModel
import RelayStore

/// One check of a rule: a new store of an engine, and what breaks the rule.
final class Trial {
  let engine: Engine
  private let mutant: Mutant?
  private let folder: Folder
  private var opened = 0
  private(set) var store: any EventStore
  private(set) var violations: [String] = []

  init(_ engine: Engine, _ mutant: Mutant?) throws {
    (self.engine, self.mutant, folder) = (engine, mutant, try Folder())
    store = try Self.open(engine, mutant, folder.path("relay"))
  }

  private static func open(_ engine: Engine, _ mutant: Mutant?, _ path: String) throws
    -> any EventStore
  {
    guard let mutant else { return try engine.open(path) }
    let base: any EventStore =
      try mutant == .volatile ? MemoryEventStore() : engine.open(path)
    return MutantStore(base, mutant)
  }

  /// Closes the store, and opens it again.
  func reopen() throws {
    store.close()
    store = try Self.open(engine, mutant, folder.path("relay"))
  }

  /// Runs the body with another, empty store.
  func withEmptyStore(_ body: (any EventStore) throws -> Void) throws {
    opened += 1
    let other = try Self.open(engine, mutant, folder.path("other\(opened)"))
    defer { other.close() }
    try body(other)
  }

  /// Where a copy of the store may be written.
  var copyPath: String { folder.path("copy") }

  // MARK: Findings

  func violate(_ finding: String, line: Int = #line) {
    violations.append("line \(line): \(finding)")
  }

  /// The value must be equal to the expected one.
  func expect<Value: Equatable>(
    _ found: @autoclosure () throws -> Value, _ expected: Value, line: Int = #line
  ) {
    let outcome = Outcome { try found() }
    if outcome != .value(expected) { violate(outcome, insteadOf: .value(expected), line: line) }
  }

  /// The outcomes differ.
  func violate<Value>(
    _ found: Outcome<Value>, insteadOf expected: Outcome<Value>, _ name: String = "",
    line: Int = #line
  ) {
    let texts = ("\(found)", "\(expected)")
    let same = zip(texts.0, texts.1).prefix { $0 == $1 }.count
    // A log of many events is long, and only its first difference matters.
    func part(_ text: String) -> String { "…\(text.dropFirst(max(0, same - 80)).prefix(200))…" }
    violate("\(name) \(part(texts.0)) instead of \(part(texts.1))", line: line)
  }

  /// The body must throw this error.
  func expectError(_ code: StoreError.Code, line: Int = #line, _ body: () throws -> Void) {
    let outcome = Outcome {
      try body()
      return true
    }
    if outcome != .error(code) { violate(outcome, insteadOf: .error(code), line: line) }
  }

  /// The commit must be refused.
  func expectConflict(_ batch: Batch, line: Int = #line) {
    expectError(.conflict, line: line) { try store.commit(batch) }
  }
}

/// A value, or the error in its place.
enum Outcome<Value: Equatable>: Equatable {
  case value(Value)
  case error(StoreError.Code)
  case foreignError(String)

  init(_ body: () throws -> Value) {
    do { self = .value(try body()) } catch let error as StoreError {
      self = .error(error.code)
    } catch {
      self = .foreignError("\(error)")
    }
  }
}

/// A page of an audience's history.
struct FoundPage: Equatable {
  var events: [StoredEvent]
  var more: Bool
}

extension EventReading {
  /// A page of an audience's history, by default all of it.
  func page(
    _ family: UInt64, _ audience: Audience, after seq: UInt64 = 0, through last: UInt64 = .max,
    limit: Int = 1_000, bytes: Int = 1 << 20
  ) throws -> FoundPage {
    let page = try events(
      of: FamilyID(family), audience, after: seq, through: last, limit: limit, bytes: bytes)
    return FoundPage(events: page.events, more: page.more)
  }

  /// The event that the command of this event led to.
  func result(of event: StoredEvent) throws -> StoredEvent? {
    try self.event(of: event.command, by: event.device, in: event.family)
  }
}
