public import FamilyCore
public import FamilyModel

/// Answers the prompts and bubbles of devices.
///
/// A terminal shows them to a person; a script answers by rules, for demonstrations and tests. The
/// methods are called on the agent's thread and suspend while they wait.
public protocol Responder: Sendable {
  /// Answers a prompt on a child's device. May suspend for as long as a person needs.
  ///
  /// - Parameter window: The name of the app's window that asked; empty: none given.
  nonisolated(nonsending) func answer(_ prompt: Prompt, in window: String) async -> PromptAnswer
  /// Answers a prompt on the device with this address, for a responder of several devices.
  nonisolated(nonsending) func answer(
    _ prompt: Prompt, in window: String, on address: DeviceAddress
  ) async -> PromptAnswer
  /// Answers a bubble on a guardian's device; `nil` leaves it open.
  nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer?
  /// Shows a notice of a device to its owner.
  func notified(_ notice: Notice, on address: DeviceAddress)
}

extension Responder {
  public nonisolated(nonsending) func answer(
    _ prompt: Prompt, in window: String, on address: DeviceAddress
  ) async -> PromptAnswer {
    await answer(prompt, in: window)
  }

  public func notified(_ notice: Notice, on address: DeviceAddress) {}
}

/// A guardian's answer to a bubble.
public struct BubbleAnswer: Hashable, Sendable {
  /// Whether the guardian opened the details first. Declining directly from the bubble needs no
  /// review.
  public var reviewed: Bool
  /// The id of the choice.
  public var choice: String
  /// An answer with this choice.
  public init(choice: String, reviewed: Bool) {
    self.choice = choice
    self.reviewed = reviewed
  }
}
