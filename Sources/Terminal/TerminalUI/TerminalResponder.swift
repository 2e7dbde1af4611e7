import ContentCheck
package import DeviceAgent
package import FamilyCore
package import FamilyModel
import Synchronization

/// An event for the terminal's session, which processes them in order.
enum TerminalEvent: Sendable {
  case input(Console.Input)
  case prompt(Prompt, window: String, UnsafeContinuation<PromptAnswer, Never>)
  case notice(Notice)
  /// The device's state changed.
  case changed
  /// One second has passed.
  case tick
  /// The content check of a picture is complete.
  case picture(Avatar, ContentVerdict)
}

/// Forwards the device's prompts and notices to the terminal's session.
package final class TerminalResponder: Responder {
  let stream: AsyncStream<TerminalEvent>
  let events: AsyncStream<TerminalEvent>.Continuation
  private let isChangeQueued = Mutex(false)

  package init() { (stream, events) = AsyncStream.makeStream() }

  package nonisolated(nonsending) func answer(
    _ prompt: Prompt, in window: String
  ) async -> PromptAnswer {
    // An unanswered prompt stays suspended until the process ends, and appears again after a
    // restart: any value returned here would count as the person's answer.
    await withUnsafeContinuation { _ = events.yield(.prompt(prompt, window: window, $0)) }
  }

  /// Returns `nil`: the conversation shows the bubble, and a command answers it later.
  package nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer? { nil }

  package func notified(_ notice: Notice, on address: DeviceAddress) {
    events.yield(.notice(notice))
  }

  /// Enqueues one `changed` event, unless the session has yet to process an earlier one.
  func changed() {
    let isFirst = isChangeQueued.withLock { isQueued in
      defer { isQueued = true }
      return !isQueued
    }
    if isFirst { events.yield(.changed) }
  }

  /// Records that the session has processed the enqueued change.
  func changeProcessed() { isChangeQueued.withLock { $0 = false } }
}
