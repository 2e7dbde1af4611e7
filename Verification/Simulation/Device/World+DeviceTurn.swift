import FamilyCore
import FamilyModel
import History
import RelayStore

/// Turns of a device, as those of `AgentHost`: the transaction, then everything that waited for it.
extension World {
  /// As `AgentHost.perform`.
  func perform(_ wanted: [DeviceEffect], _ device: DeviceProcess) {
    for effect in wanted {
      if case .persist(let records) = effect {
        device.changes += records
      } else {
        if case .notify(.disbelieved) = effect { device.disbelieving += 1 }
        device.effects.append(effect)
      }
    }
  }

  /// As `AgentHost.turn`: the transaction, then everything that waited for it.
  func turn(_ index: Int) {
    let device = devices[index]
    repeat {
      if !device.changes.isEmpty {
        guard survives(device, index), persist(device, index) else { return }
      }
      let wanted = device.effects
      device.effects = []
      for effect in wanted {
        guard survives(device, index) else { return }
        carryOut(effect, device, index)
      }
    } while device.isRunning && !(device.effects.isEmpty && device.changes.isEmpty)
    planDeviceTimer(index)
  }

  private func persist(_ device: DeviceProcess, _ index: Int) -> Bool {
    let changes = device.changes
    device.changes = []
    guard !device.isFull else {
      endDevice(index, power: false)
      return false
    }
    let parts = transactions(changes)
    for (number, part) in parts.enumerated() {
      device.disk.append(part, syncs: mutant != .deviceFsync)
      if number == parts.count - 1 { notePersisted(changes, device) }
      guard survives(device, index) else { return false }
    }
    device.disbelieving = 0
    return true
  }

  private func notePersisted(_ changes: [RecordChange], _ device: DeviceProcess) {
    noteBirthdates(changes, device)
    for case .put(.cursor(let cursor)) in changes { notePassed(cursor, changes, device) }
    for case .put(let record) in changes {
      switch record {
      case .outbox(_, let id, _): note(.issued(device.address, id))
      case .app(let app, let standing):
        guard let number = device.apps.firstIndex(where: { $0.id == app }) else { continue }
        if standing.registered, !device.standings[number].registered {
          note(.registered(AppAddress(device.address, app)))
        }
        device.standings[number] = standing
      case .event, .cursor, .receipt, .entry, .passcodeTries: break
      }
    }
  }

  private func noteBirthdates(_ changes: [RecordChange], _ device: DeviceProcess) {
    let isNew = changes.contains {
      if case .put(.cursor(let cursor)) = $0 { cursor.audience != .family } else { false }
    }
    guard isNew else { return }
    let accounts = device.link.accounts
    for person in accounts.keys.sorted()
    where accounts[person]?.birthdate != nil && device.birthdates.insert(person).inserted {
      note(.holdsBirthdate(device.address, person))
    }
  }

  /// The device has come up to here: with each event on its disk, or without one that it does not believe.
  private func notePassed(_ cursor: Cursor, _ changes: [RecordChange], _ device: DeviceProcess) {
    let audience = cursor.audience
    var kept: [UInt64: Event] = [:]
    for case .put(.event(let event)) in changes where event.audience == audience {
      kept[event.seq] = event
    }
    let before = device.passed[audience] ?? 0
    for stored in relay.disk.families[device.address.family]?.events ?? []
    where stored.audience == audience && stored.seq > before && stored.seq <= cursor.delivered {
      if let event = kept[stored.seq] {
        note(.applied(device.address, audience, seq: event.seq, event.command))
        switch event.body {
        case .decided(let decision), .answeredInPerson(_, _, let decision, _):
          note(.decided(device.address, decision.question, choice: decision.choice.id))
        default: break
        }
      } else if device.disbelieving > 0 {
        device.disbelieving -= 1
        device.disbelieved[audience, default: []].insert(stored.seq)
        note(.applied(device.address, audience, seq: stored.seq, stored.command))
      }
    }
    device.passed[audience] = max(before, cursor.delivered)
  }
}
