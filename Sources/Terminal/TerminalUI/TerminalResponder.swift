import ContentCheck
package import DeviceAgent
package import FamilyCore
package import FamilyModel
import Synchronization

/// What happens at a terminal, in order.
enum TerminalEvent: Sendable {
  case input(Console.Input)
  case prompt(Prompt, UnsafeContinuation<PromptAnswer, Never>)
  case notice(Notice)
  /// Something may look different.
  case changed
  /// A second is over.
  case tick
  /// A picture was checked.
  case picture(Avatar, ContentVerdict)
  /// The new passcode's key is derived.
  case passcode(Passcode?)
}

/// Hands what the device asks and tells to the terminal's session.
package final class TerminalResponder: Responder {
  let stream: AsyncStream<TerminalEvent>
  let events: AsyncStream<TerminalEvent>.Continuation
  private let isChangeWaiting = Mutex(false)

  package init() { (stream, events) = AsyncStream.makeStream() }

  package nonisolated(nonsending) func answer(_ prompt: Prompt) async -> PromptAnswer {
    // A prompt that nobody answers before the end of the process is asked again after a restart: it is
    // left waiting, since any answer would be the person's.
    await withUnsafeContinuation { _ = events.yield(.prompt(prompt, $0)) }
  }

  /// Bubbles stand in the conversation; the answer comes with a command, whenever the guardian likes.
  package nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer? { nil }

  package func notified(_ notice: Notice, on address: DeviceAddress) {
    events.yield(.notice(notice))
  }

  /// Several changes that nobody looked at yet are one.
  func changed() {
    let isFirst = isChangeWaiting.withLock { waits in
      defer { waits = true }
      return !waits
    }
    if isFirst { events.yield(.changed) }
  }

  func looked() { isChangeWaiting.withLock { $0 = false } }
}
