import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// The administrator's client, which repeats a command until the relay answers.
struct AdministratorClient {
  var pending: [(device: DeviceAddress, signed: SignedCommand)] = []
  var lastRequest: UInt64 = 0
  var isTicking = false
}

extension World {
  func createFamily(_ family: Int) {
    let mine = scenario.devices.filter { $0.family == family }
    var persons: [Person] = []
    for plan in mine where !persons.contains(plan.person) { persons.append(plan.person) }
    let roster = Roster(
      persons: persons,
      devices: mine.filter(\.isEnrolled).map { self.roster(entry: $0) })
    administrate(FamilyID(UInt64(family) + 1), .setRoster(roster))
  }

  private func roster(entry plan: Scenario.DevicePlan) -> Device {
    let process = devices.first { $0.plan.family == plan.family && $0.plan.id == plan.id }!
    return Device(
      id: plan.id, person: plan.person.id, publicKey: process.key,
      signingKey: process.vault.signingKey, agreementKey: process.vault.agreementKey)
  }

  /// Signs a command with the organizer's keys, based on the family's stored log, and enqueues it.
  private func administrate(_ family: FamilyID, _ command: Command) {
    let organizer = devices.first { $0.address.family == family }!
    guard var machine = organizerMachine(family, ids: IDSource(seed: random.next())),
      let signed = try? machine.prepare(command, now: clock(.zero))
    else { return }
    let address = DeviceAddress(family: family, device: DeviceID(0))
    administrator.pending += signed.map { (address, $0) }
    for command in signed { record(.signs(organizer.address, command.id)) }
    guard !administrator.isTicking else { return }
    administrator.isTicking = true
    queue.schedule(.administrator, at: now + .milliseconds(1))
  }

  /// The organizer's machine with the history that the relay shows.
  private func organizerMachine(_ family: FamilyID, ids: IDSource) -> GuardianMachine? {
    let organizer = devices.first { $0.address.family == family }!
    guard let stored = try? relay.disk.load(family) else { return nil }
    let records = stored.events.map { DeviceRecord.event(try! Event.decode($0.payload)) }
    return GuardianMachine(
      organizer.address, of: organizer.plan.person.id, security: security(organizer),
      restoring: records, ids: ids)
  }

  func administrate(_ family: Int, _ change: Act.Change) {
    let id = FamilyID(UInt64(family) + 1)
    switch change {
    case .limits(let child, let on): administrate(id, .setLimits(child: child, on: on))
    case .add(let index), .remove(let index):
      guard var roster = storedRoster(id) else { return }
      let plan = scenario.devices[index]
      // The organizer's first device signs the rosters, so it stays.
      guard plan.id != DeviceID(1) else { return }
      roster.devices.removeAll { $0.id == plan.id }
      if case .add = change { roster.devices.append(self.roster(entry: plan)) }
      roster.devices.sort { $0.id < $1.id }
      // The family keeps at least one guardian's device.
      guard roster.devices.contains(where: { roster.person($0.person)?.role.isGuardian ?? false })
      else { return }
      administrate(id, .setRoster(roster))
    }
  }

  private func storedRoster(_ family: FamilyID) -> Roster? {
    // A tool verifies what a dishonest relay shows.
    if dishonest != nil {
      return organizerMachine(family, ids: IDSource(seed: 0))?.link.roster
    }
    for stored in relay.disk.families[family]?.events.reversed() ?? []
    where stored.audience == .family {
      if case .rosterChanged(let roster)? = try? Event.decode(stored.payload).body { return roster }
    }
    return nil
  }

  func administratorTurn() {
    guard let (address, signed) = administrator.pending.first else {
      administrator.isTicking = false
      return
    }
    administrator.lastRequest += 1
    let envelope = Envelope(
      device: address, requestID: administrator.lastRequest,
      request: .command(signed.id, signed.command, signed.signature))
    let decoded = envelope.encode().withUnsafeBytes { try! Envelope.decode($0) }
    arrive(.request(-1, 0, decoded))
    queue.schedule(.administrator, at: now + .seconds(1))
  }

  func administratorReceives(_ reply: ReplyEnvelope) {
    switch reply.reply {
    case .accepted(let id, let seq):
      record(.acknowledged(reply.device, id, seq: seq))
      administrator.pending.removeAll { $0.signed.id == id }
    case .refused(let id, let problem):
      record(.refused(reply.device, id, problem))
      administrator.pending.removeAll { $0.signed.id == id }
    default: break
    }
  }
}
