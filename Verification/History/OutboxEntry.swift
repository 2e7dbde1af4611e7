import FamilyCore
public import FamilyModel

/// A command in a device's outbox, as far as checkers judge it.
public struct OutboxEntry: Hashable, Sendable {
  /// The place in the outbox; `nil` if the history does not record it. A text with a larger one was
  /// written later.
  public var position: UInt64?
  /// The question that the command asks; `nil` for another command.
  public var question: QuestionID?

  /// An entry without details.
  public init() {}

  /// An entry with details.
  public init(position: UInt64?, question: QuestionID?) {
    self.position = position
    self.question = question
  }

  /// The entry of a command.
  public init(_ command: Command, at position: UInt64) {
    self.init(position: position, question: command.newQuestion?.id)
  }
}

/// A command that a device has issued.
struct IssuedCommand: Hashable {
  var device: DeviceAddress
  var id: CommandID
}
