import FamilyModel
import RelayWire
import SystemClock

extension AgentHost {
  func acceptApps() { guarded { try apps?.acceptInstalledApps() } }

  func drainApps() {
    guarded {
      self.counters.unusableAppMessages +=
        try self.apps?.drain(limit: Self.drainLimit) { address, app, bytes in
          do throws(Problem) {
            let request = try AppRequest.decode(bytes)
            switch request {
            case .attach: self.trace("app-attached", device: address)
            case .acknowledge: self.trace("app-acknowledged", device: address)
            case .ask(let question, _, _): self.trace("ask", device: address, question: question.id)
            case .age: self.trace("age", device: address)
            case .rating: self.trace("rating", device: address)
            case .register, .detach, .rejected, .ping: break
            }
            self.perform(
              self.devices[address]?.step(.app(app, request), now: .now) ?? [], for: address)
          } catch {
            self.counters.unusableAppMessages += 1
            self.send(.failed(error), to: app, on: address)
          }
        } ?? 0
    }
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
