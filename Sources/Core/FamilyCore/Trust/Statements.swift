public import FamilyModel

/// The position of a statement among the statements about one value.
///
/// A statement replaces the statements that its signer knew, whatever their times. Of two statements
/// whose signers did not know the other one, the later id counts. The relay, devices and apps apply
/// this rule.
public struct StatementOrder: Hashable, Sendable {
  /// The position of the statement's event in the family's log.
  public let seq: UInt64
  /// The newest event of the statement's audience that the signer knew. Less than ``seq``: nobody
  /// knows a later event.
  public let known: UInt64
  /// The statement's command, by its signer.
  public let command: CommandName

  /// Creates an order. A larger `known` than the event before `seq` counts as that event.
  public init(seq: UInt64, known: UInt64, command: CommandName) {
    self.seq = seq
    self.known = min(known, seq == 0 ? 0 : seq - 1)
    self.command = command
  }

  /// The order of a statement that the relay does not have yet.
  init(ofPending command: CommandName) { self.init(seq: .max, known: .max, command: command) }

  /// Whether the other statement counts instead of this one.
  public func isReplaced(by other: StatementOrder) -> Bool {
    if seq <= other.known { return true }
    if other.seq <= known { return false }
    return (command.id, seq) < (other.command.id, other.seq)
  }
}

/// The statements about one value: the one that counts, and those that may count later.
///
/// A statement is forgotten as soon as the signer of another one knew it. The result does not depend
/// on the order of arrival: a statement that arrives late, and that the signer of another one knew,
/// changes nothing.
public struct Statements<Value: Hashable & Sendable>: Hashable, Sendable {
  /// A statement about the value.
  public struct Statement: Hashable, Sendable {
    /// The statement's order.
    public var order: StatementOrder
    /// The stated value.
    public var value: Value
  }

  /// The statement that counts; `nil` without any.
  public private(set) var current: Statement?
  /// The statements that no signer of the others knew, without the current one; the latest id first.
  private var others: [Statement] = []

  /// Creates an empty set.
  public init() {}

  /// The current statement, then the others; the latest id first.
  public var all: [Statement] { (current.map { [$0] } ?? []) + others }

  /// Adds a statement.
  ///
  /// - Parameters:
  ///   - value: The stated value.
  ///   - order: The statement's order.
  /// - Returns: Whether the statement is the current one now.
  @discardableResult
  public mutating func add(_ value: Value, _ order: StatementOrder) -> Bool {
    var statements = all.filter { $0.order.seq > order.known && $0.order != order }
    if statements.allSatisfy({ $0.order.known < order.seq }) {
      statements.append(Statement(order: order, value: value))
    }
    statements.sort { $1.order.isReplaced(by: $0.order) }
    current = statements.removeFirst()
    others = statements
    if others.count >= Limits.concurrentStatements { dropOldest() }
    return current?.order == order
  }

  /// Drops the statement with the earliest id, but not the one whose signer knew most.
  private mutating func dropOldest() {
    let known = all.map(\.order.known).max()
    if let index = others.lastIndex(where: { $0.order.known != known }) {
      others.remove(at: index)
    } else {
      others.removeLast()
    }
  }
}

extension Event {
  /// The order of the event's statement. In a family without keys the log is the order.
  public var order: StatementOrder {
    let known = signature?.known
    return StatementOrder(
      seq: seq, known: (audience == .family ? known?.family : known?.audience)?.seq ?? .max,
      command: name)
  }
}

extension StatementOrder: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(seq)
    packer.add(known)
    packer.add(command.device)
    packer.add(command.id)
  }

  init(_ packed: inout Unpacker) {
    let seq = packed.number()
    let known = packed.number()
    let device = packed.value() as DeviceID
    self.init(seq: seq, known: known, command: CommandName(device, packed.value()))
  }
}

extension Statements: Packable where Value: Packable {
  func pack(_ packer: inout Packer) {
    let statements = all
    packer.add(UInt64(statements.count))
    for statement in statements {
      packer.add(statement.order)
      packer.add(statement.value)
    }
  }

  init(_ packed: inout Unpacker) {
    self.init()
    for _ in 0..<packed.count() {
      let order = packed.value() as StatementOrder
      add(packed.value(), order)
    }
  }
}
