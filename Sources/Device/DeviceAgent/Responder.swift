public import FamilyCore
public import FamilyModel

/// Answers a device's prompts in the place of a person.
///
/// A terminal asks the person who sits before it; a script answers by rules, for demonstrations and tests.
/// Both are called on the agent's thread, and leave it to wait.
public protocol Responder: Sendable {
  /// Answers the child's prompt. It may take as long as a person does.
  nonisolated(nonsending) func answer(_ prompt: Prompt) async -> PromptAnswer
  /// Answers a bubble on a guardian's device; `nil` leaves it open.
  nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer?
  /// Something that the person should be told happened on a device.
  func notified(_ notice: Notice, on address: DeviceAddress)
}

extension Responder {
  public func notified(_ notice: Notice, on address: DeviceAddress) {}
}

/// What a guardian does with a bubble.
public struct BubbleAnswer: Hashable, Sendable {
  /// Whether the details were opened first (R2); declining straight from the bubble needs no review (R1).
  public var reviewed: Bool
  /// The choice's id.
  public var choice: String
  /// The answer `choice`.
  public init(choice: String, reviewed: Bool) {
    self.choice = choice
    self.reviewed = reviewed
  }
}
