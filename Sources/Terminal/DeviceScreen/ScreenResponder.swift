package import DeviceAgent
package import FamilyCore
package import FamilyModel
import Synchronization
import SystemClock

/// Keeps the prompts of devices until a client answers them, and their refused commands.
package final class ScreenResponder: Responder {
  private struct Waiting {
    var prompt: OpenPrompt
    var address: DeviceAddress
    var reply: UnsafeContinuation<PromptAnswer, Never>
  }

  private struct State {
    var next: UInt64
    var waiting: [Waiting] = []
    var refusals: [DeviceAddress: [Refused]] = [:]
    var onChange: (@Sendable () -> Void)?
  }

  private let state: Mutex<State>

  /// - Parameter start: The time from which prompts are numbered, so that an answer to a prompt of an
  ///   earlier run matches no prompt of this one.
  package init(start: Instant = .now) {
    state = Mutex(State(next: UInt64(max(0, start.milliseconds))))
  }

  /// Calls `changed` after each change, on any thread.
  func watch(_ changed: @escaping @Sendable () -> Void) {
    state.withLock { $0.onChange = changed }
  }

  func prompts(of address: DeviceAddress) -> [OpenPrompt] {
    state.withLock { $0.waiting.filter { $0.address == address }.map(\.prompt) }
  }

  func refusals(of address: DeviceAddress) -> [Refused] {
    state.withLock { $0.refusals[address] ?? [] }
  }

  /// Answers the prompt with this number.
  ///
  /// - Returns: `false` if no prompt with this number waits.
  func answer(_ id: UInt64, of address: DeviceAddress, _ answer: PromptAnswer) -> Bool {
    let waiting = state.withLock { state in
      state.waiting.firstIndex { $0.prompt.id == id && $0.address == address }
        .map { state.waiting.remove(at: $0) }
    }
    waiting?.reply.resume(returning: answer)
    changed()
    return waiting != nil
  }

  package nonisolated(nonsending) func answer(
    _ prompt: Prompt, in window: String, on address: DeviceAddress
  ) async -> PromptAnswer {
    // An unanswered prompt stays suspended until the process ends, and appears again after a
    // restart: any value returned here would count as the person's answer.
    await withUnsafeContinuation { reply in
      state.withLock { state in
        state.next += 1
        let open = OpenPrompt(id: state.next, prompt: prompt, window: window, received: .now)
        state.waiting.append(Waiting(prompt: open, address: address, reply: reply))
      }
      changed()
    }
  }

  /// Cancels a prompt without an address, which no host has.
  package nonisolated(nonsending) func answer(
    _ prompt: Prompt, in window: String
  ) async -> PromptAnswer { .cancel }

  /// Returns `nil`: the conversation shows the bubble, and an act answers it later.
  package nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer? { nil }

  package func notified(_ notice: Notice, on address: DeviceAddress) {
    switch notice {
    case .refused, .noPasscode, .passcodeNotSet:
      state.withLock { state in
        var refusals = state.refusals[address] ?? []
        refusals.append(Refused(at: .now, notice: notice))
        state.refusals[address] = refusals.suffix(ScreenLimits.refusals)
      }
    default: break
    }
    changed()
  }

  private func changed() { state.withLock { $0.onChange }?() }
}
