package import FamilyCore
package import FamilyModel

/// What a complete trace tells besides the steps: what became durable on the device, each line after it is,
/// and the relay's answers to commands, each line before the device acts on it. So a checker that reads the
/// lines of a process that was killed knows at least what others may have been told.
package struct DurableTrace: AgentObserver {
  let trace: Trace

  package init(trace: Trace) { self.trace = trace }

  package func madeDurable(_ changes: [RecordChange], on device: DeviceAddress) {
    for case .put(let record) in changes { tell(record, on: device) }
  }

  private func tell(_ record: DeviceRecord, on device: DeviceAddress) {
    switch record {
    case .event(let event):
      tell(
        "applied", device,
        [
          ("audience", "\(event.audience.rawValue)"), ("seq", "\(event.seq)"),
          ("command", event.command.json),
        ])
    case .outbox(_, let id, _): tell("issued", device, [("command", id.json)])
    case .entry(_, let entry):
      guard case .response(let question, _) = entry.body else { return }
      tell("app-entry", device, [("position", "\(entry.position)"), ("about", question.id.json)])
    case .app(_, let standing):
      if standing.registered { tell("app-registered", device, []) }
      tell("app-settled", device, [("position", "\(standing.acknowledged)")])
    case .cursor, .receipt, .passcodeTries: break
    }
  }

  /// The relay answered a command, be it by the command's event.
  package func received(_ reply: Reply, on device: DeviceAddress) {
    switch reply {
    case .accepted(let id, let seq): acknowledged(id, seq, device)
    case .page(_, let events, _):
      for event in events { received(.event(event), on: device) }
    case .refused(let id, let problem):
      trace("refused-command", device: device, problem: problem, facts: [("command", id.json)])
    default: break
    }
  }

  package func received(_ broadcast: Broadcast, on device: DeviceAddress) {
    guard case .event(let event) = broadcast, event.device == device.device else { return }
    acknowledged(event.command, event.seq, device)
  }

  private func acknowledged(_ command: CommandID, _ seq: UInt64, _ device: DeviceAddress) {
    tell("acknowledged", device, [("command", command.json), ("seq", "\(seq)")])
  }

  /// The device starts from these records.
  package func restored(_ records: [DeviceRecord], on device: DeviceAddress) {
    var seqs: [Audience: [UInt64]] = [:]
    for case .event(let event) in records { seqs[event.audience, default: []].append(event.seq) }
    tell("restarted", device, [])
    for case .cursor(let cursor) in records {
      let held = (seqs[cursor.audience] ?? []).sorted().map(String.init).joined(separator: ",")
      tell(
        "restored", device,
        [
          ("audience", "\(cursor.audience.rawValue)"), ("seq", "\(cursor.delivered)"),
          ("seqs", "[\(held)]"),
        ])
    }
    for record in records {
      switch record {
      case .outbox, .app, .entry: tell(record, on: device)
      default: break
      }
    }
  }

  private func tell(_ step: String, _ device: DeviceAddress, _ facts: [(String, String)]) {
    trace(step, device: device, facts: facts)
  }
}

extension ID128 {
  /// The identifier as a UUID between quotes.
  fileprivate var json: String { "\"\(uuid.uuidString)\"" }
}
