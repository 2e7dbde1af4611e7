import FamilyModel
import History
import RelayStore
import RelayWire

/// The administrator's tool: repeats a command until the relay has answered.
struct AdministratorClient {
  var pending: [(device: DeviceAddress, id: CommandID, command: Command)] = []
  var lastRequest: UInt64 = 0
  var isTicking = false
}

extension World {
  func found(_ family: Int) -> (FamilyID, Command) {
    let mine = scenario.devices.filter { $0.family == family }
    var persons: [Person] = []
    for plan in mine where !persons.contains(plan.person) { persons.append(plan.person) }
    let roster = Roster(
      persons: persons,
      devices: mine.filter(\.isEnrolled).map { self.roster(entry: $0) })
    return (FamilyID(UInt64(family) + 1), .setRoster(roster))
  }

  private func roster(entry plan: Scenario.DevicePlan) -> Device {
    let process = devices.first { $0.plan.family == plan.family && $0.plan.id == plan.id }!
    return Device(id: plan.id, person: plan.person.id, publicKey: process.key)
  }

  func administrate(_ what: (FamilyID, Command)) {
    let address = DeviceAddress(family: what.0, device: DeviceID(0))
    administrator.pending.append((address, ID128(high: 9, low: dice.next()), what.1))
    guard !administrator.isTicking else { return }
    administrator.isTicking = true
    agenda.plan(.administrator, at: now + 1)
  }

  func administrate(_ family: Int, _ change: Act.Change) {
    let id = FamilyID(UInt64(family) + 1)
    switch change {
    case .limits(let child, let on): administrate((id, .setLimits(child: child, on: on)))
    case .add(let index), .remove(let index):
      guard var roster = storedRoster(id) else { return }
      let plan = scenario.devices[index]
      roster.devices.removeAll { $0.id == plan.id }
      if case .add = change { roster.devices.append(self.roster(entry: plan)) }
      roster.devices.sort { $0.id < $1.id }
      // Somebody has to be left who can answer, and somebody who can ask.
      guard roster.devices.contains(where: { roster.person($0.person)?.role.isGuardian ?? false })
      else { return }
      administrate((id, .setRoster(roster)))
    }
  }

  private func storedRoster(_ family: FamilyID) -> Roster? {
    for stored in relay.disk.families[family]?.events.reversed() ?? []
    where stored.audience == .family {
      if case .rosterChanged(let roster)? = try? Event.decode(stored.payload).body { return roster }
    }
    return nil
  }

  func administratorTurn() {
    guard let (address, id, command) = administrator.pending.first else {
      administrator.isTicking = false
      return
    }
    administrator.lastRequest += 1
    let envelope = Envelope(
      device: address, requestID: administrator.lastRequest, request: .command(id, command))
    let decoded = envelope.encode().withUnsafeBytes { try! Envelope.decode($0) }
    arrive(.request(-1, 0, decoded))
    agenda.plan(.administrator, at: now + 1_000)
  }

  func administratorReceives(_ reply: ReplyEnvelope) {
    switch reply.reply {
    case .accepted(let id, let seq):
      note(.acknowledged(reply.device, id, seq: seq))
      administrator.pending.removeAll { $0.id == id }
    case .refused(let id, let problem):
      note(.refused(reply.device, id, problem))
      administrator.pending.removeAll { $0.id == id }
    default: break
    }
  }
}
