import FamilyCore
import FamilyModel
import RelayWire
import SystemClock
import ZeroMQ

extension AgentHost {
  func acceptApps() { guarded { try apps?.acceptInstalledApps() } }

  func drainAppConnections() { guarded { try apps?.checkConnections() } }

  func drainApps() {
    guarded {
      self.counters.unusableAppMessages +=
        try self.apps?.drain(limit: Self.drainLimit) { address, app, bytes in
          do throws(Problem) {
            let isAllowed = self.allowance(of: app, on: address) {
              $0.mayRequest(bytes: bytes.count, now: Self.uptime)
            }
            let request = try AppRequest.decode(bytes)
            if !request.isForHolder { self.apps?.replyToSender() }
            self.received(request, isAllowed, from: app, on: address)
          } catch {
            self.counters.unusableAppMessages += 1
            self.apps?.replyToSender()
            self.send(.failed(error), to: app, on: address)
          }
        } ?? 0
    }
  }

  /// A reading of a clock that is never set.
  private static var uptime: Instant {
    Instant(milliseconds: Int64(MonotonicInstant.now.uptime.milliseconds))
  }

  private func allowance<R>(
    of app: AppID, on address: DeviceAddress, _ body: (inout AppAllowance) -> R
  ) -> R {
    var unused = AppAllowance()
    guard host.devices[address] != nil else { return body(&unused) }
    return body(&allowances[address, default: [:]][app, default: unused])
  }

  /// Handles the app's request, or refuses it. An app above its rate costs no trace and no step.
  private func received(
    _ request: AppRequest, _ isAllowed: Bool, from app: AppID, on address: DeviceAddress
  ) {
    guard isAllowed else {
      counters.refusedAppRequests += 1
      if let refusal = request.refusal(.appLimit) { send(refusal, to: app, on: address) }
      return
    }
    let verdict = allowance(of: app, on: address) { $0.decide(request, now: Self.uptime) }
    switch verdict {
    case .handle: handle(request, from: app, on: address)
    case .replace: counters.refusedAppRequests += 1
    case .handleAttachment(let delay):
      Task { [weak self] in
        try? await Task.sleep(for: .milliseconds(delay.count))
        await self?.handleWaitingAttachment(of: app, on: address)
      }
    }
  }

  private func handleWaitingAttachment(of app: AppID, on address: DeviceAddress) {
    guard let request = allowance(of: app, on: address, { $0.takeAttachment() }) else { return }
    handle(request, from: app, on: address)
  }

  private func handle(_ request: AppRequest, from app: AppID, on address: DeviceAddress) {
    switch request {
    case .attach: trace("app-attached", device: address)
    case .acknowledge: trace("app-acknowledged", device: address)
    case .ask(let question, _, _): trace("ask", device: address, question: question.id)
    case .age: trace("age", device: address)
    case .rating: trace("rating", device: address)
    case .register, .detach, .rejected, .ping, .name, .sites, .manage, .safety, .analyze, .useWeb,
      .deleteWebUse, .watch, .unwatch:
      break
    }
    host.act(.app(app, request), on: address)
  }

  /// Sends a reply to the app on the device.
  func send(_ reply: AppReply, to app: AppID, on address: DeviceAddress) {
    if case .asked(let question, let outcome) = reply {
      let facts = [("outcome", "\"\(outcome.name)\"")]
      trace("asked", device: address, question: question, facts: facts)
    }
    if let localApps {
      for input in localApps.received(reply, by: app, on: address) { act(input, on: address) }
      return
    }
    guarded {
      // An unreachable app has ended. An app whose queue is full attaches again later.
      let result = try self.apps?.send(reply.encode(), to: app, on: address)
      if result == .unreachable { self.appEnded(app, exited: false, on: address) }
    }
  }
}

extension AppRequest {
  /// The reply that refuses the request; `nil` for a request without a reply, which the app repeats.
  fileprivate func refusal(_ problem: Problem) -> AppReply? {
    switch self {
    case .ask(let question, _, _): .asked(question.id, .refused(problem))
    case .age(let id, _, _), .rating(let id): .age(id, .failed(problem))
    case .analyze(let number, _): .analyzed(number, .failed(problem))
    case .attach, .register, .acknowledge, .detach, .rejected, .ping, .name, .sites,
      .manage, .safety, .useWeb, .deleteWebUse, .watch, .unwatch:
      nil
    }
  }

  /// Whether the reply goes to the process that holds the app's store, and not to the sender.
  fileprivate var isForHolder: Bool { if case .name = self { true } else { false } }
}

extension AskOutcome {
  /// The name in the trace.
  fileprivate var name: String {
    switch self {
    case .sent: "sent"
    case .alreadyAsked: "already-asked"
    case .answeredByDefault: "answered-by-default"
    case .answeredInPerson: "answered-in-person"
    case .acknowledged: "acknowledged"
    case .cancelled: "cancelled"
    case .refused: "refused"
    }
  }
}
