import FamilyModel
import RelayWire

extension AgentHost {
  func drainApps() {
    guarded { host in
      try host.apps?.drain(limit: Self.drainLimit) { address, app, bytes in
        do throws(Problem) {
          let request = try AppRequest.decode(bytes)
          switch request {
          case .attach: host.trace("app-attached", device: address)
          case .acknowledge: host.trace("app-acknowledged", device: address)
          case .ask(let question): host.trace("ask", device: address, question: question.id)
          case .register, .detach: break
          }
          host.perform(
            host.devices[address]?.child?.step(.app(app, request), now: .now) ?? [], for: address)
        } catch {
          host.tell(app, .failed(error), on: address)
        }
      }
    }
  }

  func tell(_ app: AppID, _ reply: AppReply, on address: DeviceAddress) {
    guarded { host in
      // An app that cannot be reached has gone; one that does not read attaches again later.
      let result = try host.apps?.send(reply.encode(), to: app, on: address)
      if result == .unreachable { host.appGone(app, exited: false, on: address) }
    }
  }
}
