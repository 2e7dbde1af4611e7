import BlockStorage
import DeviceTurn
import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire
import ZeroMQ

/// Starts, restarts and ends of devices' processes, with or without their disks.
extension World {
  func startDevice(_ index: Int) {
    let device = devices[index]
    guard !device.isRunning else { return }
    if device.isDamaged { return reset(index) }
    if device.diskFault == .read {
      reach(.deviceReadFails)
      return scheduleStart(index)
    }
    device.isRunning = true
    device.life += 1
    device.timerAt = nil
    let records = device.disk.records()
    let ids = IDSource(seed: random.next())
    let host = DeviceHost(
      clock: HostClock(
        wall: { [unowned self, unowned device] in clock(device.clock) },
        monotonic: { [unowned self, unowned device] in monotonic(device) }))
    let machine = restoredDevice(device, records, ids)
    host.add(machine)
    let history = MemoryHistory()
    machine.moveHistory(to: history)
    if history.bytes > 0 { reach(.historyMoved) }
    device.host = host
    device.progress = device.apps.map { app in
      for case .app(app.id, let standing) in records { return standing }
      return AppProgress()
    }
    if !records.isEmpty { recordRestored(device, records) }
    if records.contains(where: { if case .outbox = $0 { true } else { false } }) {
      reach(.outboxRestored)
    }
    recordRoster(device)
    for app in device.apps.indices where device.apps[app].isRunning { appMeetsDevice(index, app) }
    host.start()
    turn(index)
    connect(index)
    scheduleDeviceTimer(index)
  }

  /// The moment on the monotonic clock of the device's machine. The mutant's clock is set together with
  /// the wall clock.
  func monotonic(_ device: SimulatedDevice) -> MonotonicInstant {
    let uptime = mutant == .clockSetBack ? now + device.clock + .days(1_000) : uptime
    return MonotonicInstant(nanoseconds: UInt64(uptime.count) * 1_000_000)
  }

  /// The device of these records. A device with a snapshot starts without the covered events, as an
  /// agent does.
  private func restoredDevice(
    _ device: SimulatedDevice, _ records: [DeviceRecord], _ ids: IDSource
  ) -> HostedDevice {
    let later = records.withoutCovered
    let found = restored(device, later, ids)
    guard records.contains(where: { $0.key == .snapshot }) else { return found }
    if found.link.hasIgnoredSnapshot { return restored(device, records, ids) }
    reach(.deviceStartsFromSnapshot)
    return found
  }

  /// The device as exactly these records give it.
  func restored(
    _ device: SimulatedDevice, _ records: [DeviceRecord], _ ids: IDSource, snapshots: Bool = true
  ) -> HostedDevice {
    let security = security(device, snapshots: snapshots)
    if device.plan.isGuardians {
      let machine = GuardianMachine(
        device.address, of: device.plan.person.id, security: security,
        hostAnnouncesPresence: true, restoring: records, ids: ids)
      return HostedDevice(machine, key: device.key, pass: device.pass)
    }
    let machine = ChildMachine(
      device.address, of: device.plan.person.id, apps: Scenario.apps,
      manifests: Scenario.manifests, security: security, hostAnnouncesPresence: true,
      restoring: records, ids: ids)
    return HostedDevice(machine, key: device.key, pass: device.pass)
  }

  func security(_ device: SimulatedDevice, snapshots: Bool = false) -> Security {
    let organizer = devices.first { $0.address.family == device.address.family }!
    return Security(
      device.vault, organizerKey: organizer.vault.signingKey,
      snapshots: snapshots ? self.snapshots(of: device) : nil)
  }

  /// Snapshots that follow each few events. The mutant's snapshots keep the state of the first one.
  private func snapshots(of device: SimulatedDevice) -> Snapshots {
    let first = device.firstSnapshot
    let isStale = mutant == .deviceSnapshot
    return Snapshots(
      coding: SnapshotCoding(), interval: 2, runningInterval: 8, margin: 2,
      seal: { pieces, sealed in
        let bytes = Array(pieces.joined())
        sealed += isStale ? first.bytes(or: bytes) : bytes
        return true
      },
      open: { try [UInt8]($0, from: $1) })
  }

  private func recordRestored(_ device: SimulatedDevice, _ records: [DeviceRecord]) {
    var seqs: [Audience: [UInt64]] = [:]
    var cursors: [Audience: UInt64] = [:]
    for record in records {
      if let event = record.readEvent { seqs[event.audience, default: []].append(event.seq) }
      if case .passed(let audience, let position) = record,
        isWebReport(position, of: audience, device)
      {
        seqs[audience, default: []].append(position.seq)
      }
      if case .cursor(let cursor) = record { cursors[cursor.audience] = cursor.delivered }
    }
    device.cursors = cursors
    for audience in Set(seqs.keys).union(cursors.keys).sorted() {
      let cursor = cursors[audience] ?? 0
      // Rejected events are not stored, so they are no gap.
      let gone = device.rejected[audience, default: []].filter { $0 <= cursor }
      let all = Set(seqs[audience] ?? []).union(gone).sorted()
      record(.restored(device.address, audience, all, cursor: cursor))
    }
    for (app, standing) in zip(device.apps, device.progress) where standing.registered {
      record(.registered(AppAddress(device.address, app.id)))
    }
  }

  /// Replaces the damaged file, which an agent refuses, by an empty one.
  ///
  /// Each app also restarts with an empty disk or keeps its own; beside a dishonest relay, with an empty
  /// one.
  private func reset(_ index: Int) {
    let device = devices[index]
    reach(.deviceReset)
    device.isDamaged = false
    device.disk.wipe()
    device.pass = []
    record(.fault("device \(device.plan.id.rawValue) of family \(device.plan.family + 1) is reset"))
    loseState(index)
    queue.schedule(.start(.device(index)), at: now + .milliseconds(200))
  }

  private func loseState(_ index: Int) {
    let device = devices[index]
    record(.lostState(device.address))
    device.cursors = [:]
    device.rejected = [:]
    device.recordedRoster = []
    for (number, app) in device.apps.enumerated() {
      record(.appLostState(AppAddress(device.address, app.id)))
      app.hasLostState = true
      app.mayLackRosters = true
      app.handledMoments = [:]
      endApp(index, number, isReported: false)
      // An app waits for rosters of a dishonest relay's history that nobody shows any more.
      if random.chance(50) || dishonest != nil { app.disk.wipe() }
    }
  }

  /// Ends the device's process and schedules its restart. A power loss also ends its apps.
  func endDevice(_ index: Int, power: Bool) {
    let device = devices[index]
    guard device.isRunning else { return }
    device.isRunning = false
    device.crash = CrashCountdown()
    device.topics = []
    disconnect(index)
    device.host = nil
    if power {
      reach(.deviceLosesPower)
      device.disk.losePower(&random)
      for (number, app) in device.apps.enumerated() {
        endApp(index, number, isReported: false)
        app.disk.losePower(&random)
      }
    } else {
      for app in device.apps { app.loseDevice() }
    }
    scheduleStart(index)
  }

  private func scheduleStart(_ index: Int) {
    queue.schedule(.start(.device(index)), at: now + random.milliseconds(20...3_000))
  }

  func survives(_ device: SimulatedDevice, _ index: Int) -> Bool {
    guard device.isRunning else { return false }
    guard device.crash.fires() else { return true }
    endDevice(index, power: device.crash.power)
    return false
  }
}
