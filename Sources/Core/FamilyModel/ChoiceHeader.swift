/// A choice without its title.
public struct ChoiceHeader: Hashable, Sendable {
  /// Unique in its question.
  public var id: String
  /// The meaning of the choice.
  public var answer: Answer
  /// Creates a choice header.
  public init(id: String, answer: Answer) {
    self.id = id
    self.answer = answer
  }
}
