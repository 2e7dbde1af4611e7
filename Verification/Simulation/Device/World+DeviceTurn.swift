import DeviceTurn
import FamilyCore
import FamilyModel
import History
import RelayStore

/// Turns of a device: one transaction, then the effects that depend on it.
extension World {
  /// Runs a turn of the device's host, as an agent does.
  func turn(_ index: Int) {
    let device = devices[index]
    guard device.isRunning, let host = device.host else { return }
    host.beginTurn()
    while device.host === host, let batch = host.nextBatch() {
      let changes = batch.records.flatMap(\.changes)
      if !changes.isEmpty {
        guard survives(device, index), persist(changes, of: batch, device, index) else { return }
      }
      for (_, pass) in batch.passes { device.pass = pass }
      for effect in batch.effects {
        guard survives(device, index) else { return reach(.deviceCrashesInTurn) }
        carryOut(effect, device, index)
      }
    }
    scheduleDeviceTimer(index)
  }

  private func persist(
    _ changes: [RecordChange], of batch: HostBatch, _ device: SimulatedDevice, _ index: Int
  ) -> Bool {
    let outcome = writeOutcome(device.diskFault)
    if case .failed(let isWritten) = outcome {
      reach(.deviceWriteFails)
      if !isWritten {
        endDevice(index, power: false)
        return false
      }
    }
    let parts = transactions(changes)
    for (number, part) in parts.enumerated() {
      device.disk.append(part, syncs: mutant != .deviceFsync)
      if number == parts.count - 1 { recordPersisted(changes, of: batch, device) }
      guard survives(device, index) else { return false }
    }
    if case .failed = outcome {
      endDevice(index, power: false)
      return false
    }
    return true
  }

  private func recordPersisted(
    _ changes: [RecordChange], of batch: HostBatch, _ device: SimulatedDevice
  ) {
    let notices = batch.effects.compactMap { effect -> Notice? in
      if case .local(.notify(let notice), _) = effect { notice } else { nil }
    }
    var rejected = notices.count { if case .eventRejected = $0 { true } else { false } }
    recordBirthdates(changes, device)
    recordRoster(device)
    for case .put(.cursor(let cursor)) in changes {
      recordApplied(cursor, changes, &rejected, device)
    }
    for case .put(let stored) in changes {
      switch stored {
      case .outbox(let position, let id, let command, _):
        record(.issued(device.address, id, OutboxEntry(command, at: position)))
        recordApproval(command, on: device)
      case .app(let app, let standing):
        guard let number = device.apps.firstIndex(where: { $0.id == app }) else { continue }
        if standing.registered, !device.progress[number].registered {
          record(.registered(AppAddress(device.address, app)))
        }
        device.progress[number] = standing
      case .cursor(let cursor):
        device.read[cursor.audience] = max(device.read[cursor.audience] ?? 0, cursor.delivered)
      case .receipt(let audience, let receipt): check(receipt, of: audience, on: device)
      case .event, .passed, .newer, .lost, .entry, .named, .managed, .activity, .notification,
        .latestTime, .webUse, .webReport, .snapshot:
        break
      }
    }
    recordOwnRefusals(changes, notices, device)
  }

  /// Checks that a guardian's device has stored what the device shows as delivered.
  private func check(_ receipt: Receipt, of audience: Audience, on device: SimulatedDevice) {
    // A dishonest guardian or relay can claim it.
    guard adversary == nil, let child = audience.conversationChild else { return }
    let guardians = devices.filter {
      $0.address.family == device.address.family && $0.plan.isGuardians
    }
    guard !guardians.contains(where: { ($0.read[audience] ?? 0) >= receipt.delivered }) else {
      return
    }
    record(
      .breach(
        "device \(device.plan.id.rawValue) shows event \(receipt.delivered) of child "
          + "\(child.rawValue) as delivered, which no guardian has"))
  }

  /// Records the commands that the device itself refused: those that leave the outbox with a word to
  /// the owner, and key shares that no device would accept any more.
  private func recordOwnRefusals(
    _ changes: [RecordChange], _ notices: [Notice], _ device: SimulatedDevice
  ) {
    for case .delete(.outbox(let position)) in changes {
      guard let (id, command) = device.disk.command(at: position) else { continue }
      for case .refused(command, let problem) in notices {
        record(.refused(device.address, id, problem))
      }
      guard case .shareKeys(let audience, let wraps) = command else { continue }
      do throws(Problem) { try device.link.roster.check(wraps, in: audience) } catch {
        record(.refused(device.address, id, error))
      }
    }
  }

  private func recordBirthdates(_ changes: [RecordChange], _ device: SimulatedDevice) {
    let isNew = changes.contains {
      if case .put(.cursor(let cursor)) = $0 { cursor.audience != .family } else { false }
    }
    guard isNew else { return }
    let accounts = device.link.accounts
    for person in accounts.keys.sorted()
    where accounts[person]?.birthdate != nil && device.birthdates.insert(person).inserted {
      record(.holdsBirthdate(device.address, person))
    }
  }

  /// Records the events up to the cursor: stored ones as applied, missing ones as applied if
  /// rejected.
  private func recordApplied(
    _ cursor: Cursor, _ changes: [RecordChange], _ rejected: inout Int, _ device: SimulatedDevice
  ) {
    let audience = cursor.audience
    var kept: [UInt64: Event] = [:]
    for case .put(let stored) in changes {
      guard let event = stored.readEvent, event.audience == audience else { continue }
      kept[event.seq] = event
    }
    let before = device.cursors[audience] ?? 0
    // The store is not what a dishonest relay showed.
    guard dishonest == nil else { return }
    for stored in relay.disk.families[device.address.family]?.events ?? []
    where stored.audience == audience && stored.seq > before && stored.seq <= cursor.delivered {
      if let event = kept[stored.seq] {
        record(.applied(device.address, audience, seq: event.seq, event.command))
        switch event.body {
        case .decided(let decision), .answeredInPerson(_, _, let decision, _):
          record(.decided(device.address, decision.question, choice: decision.choice.id))
        default: break
        }
      } else if isWebReport(stored.payload) {
        // The device keeps what the report states, and no event.
        record(.applied(device.address, audience, seq: stored.seq, stored.command))
      } else if rejected > 0 {
        rejected -= 1
        device.rejected[audience, default: []].insert(stored.seq)
        record(.applied(device.address, audience, seq: stored.seq, stored.command))
      }
    }
    device.cursors[audience] = max(before, cursor.delivered)
  }

  /// Whether the event at a position that the device did not keep is a report of the web.
  func isWebReport(_ position: ChainPosition, of audience: Audience, _ device: SimulatedDevice)
    -> Bool
  {
    let events = relay.disk.families[device.address.family]?.events ?? []
    return events.contains {
      $0.audience == audience && $0.seq == position.seq && isWebReport($0.payload)
    }
  }

  private func isWebReport(_ payload: [UInt8]) -> Bool {
    (try? Event.decode(payload))?.isSealedWebReport ?? false
  }
}

extension Event {
  /// Whether the event reports the use of the web. A device keeps what the report states, and no event.
  var isSealedWebReport: Bool {
    guard case .ageNoted(_, let content) = body, case .webUse = FakeVault.reveal(content) else {
      return false
    }
    return true
  }
}

extension DeviceRecord {
  /// The event that the record keeps in its place of the log, also one that is newer than the device.
  var readEvent: Event? {
    switch self {
    case .event(let event), .newer(let event): event
    default: nil
    }
  }
}
