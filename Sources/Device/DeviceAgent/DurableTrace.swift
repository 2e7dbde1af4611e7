package import FamilyCore
package import FamilyModel

/// Adds durable changes and the relay's replies to the trace of the steps.
///
/// A durable change is traced after its commit; a reply is traced before the device acts on it. A
/// checker that reads the trace of a killed process therefore knows at least as much as any other
/// process.
package struct DurableTrace: AgentObserver {
  let trace: Trace

  package init(trace: Trace) { self.trace = trace }

  package func madeDurable(_ changes: [RecordChange], on device: DeviceAddress) {
    for case .put(let change) in changes { record(change, on: device) }
  }

  private func record(_ changed: DeviceRecord, on device: DeviceAddress) {
    switch changed {
    case .event(let event):
      record(
        "applied", device,
        [
          ("audience", "\(event.audience.rawValue)"), ("seq", "\(event.seq)"),
          ("command", event.command.json),
        ])
    case .passed(let audience, let position):
      record("passed", device, [("audience", "\(audience.rawValue)"), ("seq", "\(position.seq)")])
    case .outbox(let position, let id, let command, _):
      let question = command.newQuestion.map { [("about", $0.id.json)] } ?? []
      record("issued", device, [("command", id.json), ("position", "\(position)")] + question)
    case .entry(_, let entry):
      guard case .response(let question, _) = entry.body else { return }
      record("app-entry", device, [("position", "\(entry.position)"), ("about", question.id.json)])
    case .app(_, let progress):
      if progress.registered { record("app-registered", device, []) }
      record("app-settled", device, [("position", "\(progress.acknowledged)")])
    case .cursor, .receipt, .newer, .lost, .named, .managed, .activity, .notification, .latestTime,
      .webUse, .webReport, .snapshot:
      break
    }
  }

  /// Traces the commands that the reply acknowledges or refuses.
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
    record("acknowledged", device, [("command", command.json), ("seq", "\(seq)")])
  }

  /// Traces the state from which the device starts.
  package func restored(_ records: [DeviceRecord], on device: DeviceAddress) {
    let seqs = records.positions
    record("restarted", device, [])
    for case .cursor(let cursor) in records {
      let held = (seqs[cursor.audience] ?? []).map(String.init).joined(separator: ",")
      record(
        "restored", device,
        [
          ("audience", "\(cursor.audience.rawValue)"), ("seq", "\(cursor.delivered)"),
          ("seqs", "[\(held)]"),
        ])
    }
    for restored in records {
      switch restored {
      case .outbox, .app, .entry: record(restored, on: device)
      default: break
      }
    }
  }

  private func record(_ step: String, _ device: DeviceAddress, _ facts: [(String, String)]) {
    trace(step, device: device, facts: facts)
  }
}

extension ID128 {
  /// The identifier as a UUID between quotes.
  fileprivate var json: String { "\"\(uuid.uuidString)\"" }
}
