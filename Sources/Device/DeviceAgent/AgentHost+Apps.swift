import FamilyModel
import RelayWire
import SystemClock

extension AgentHost {
  func admitApps() { guarded { try apps?.admit() } }

  func drainApps() {
    guarded {
      self.counters.apps +=
        try self.apps?.drain(limit: Self.drainLimit) { address, app, bytes in
          do throws(Problem) {
            let request = try AppRequest.decode(bytes)
            switch request {
            case .attach: self.trace("app-attached", device: address)
            case .acknowledge: self.trace("app-acknowledged", device: address)
            case .ask(let question, _): self.trace("ask", device: address, question: question.id)
            case .age: self.trace("age", device: address)
            case .register, .detach, .disbelieved: break
            }
            self.perform(
              self.devices[address]?.child?.step(.app(app, request), now: .now) ?? [], for: address)
          } catch {
            self.counters.apps += 1
            self.tell(app, .failed(error), on: address)
          }
        } ?? 0
    }
  }

  func tell(_ app: AppID, _ reply: AppReply, on address: DeviceAddress) {
    if case .asked(let question, let outcome) = reply {
      let facts = [("outcome", "\"\(outcome.name)\"")]
      trace("asked", device: address, question: question, facts: facts)
    }
    if let localApps {
      for input in localApps.take(reply, app, on: address) { act(input, on: address) }
      return
    }
    guarded {
      // An app that cannot be reached has gone; one that does not read attaches again later.
      let result = try self.apps?.send(reply.encode(), to: app, on: address)
      if result == .unreachable { self.appGone(app, exited: false, on: address) }
    }
  }
}

extension AskOutcome {
  /// What the trace calls it.
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
