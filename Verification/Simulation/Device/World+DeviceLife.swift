import FamilyCore
import FamilyModel
import History
import RelayStore

/// Devices' processes begin and end, with and without what was on their disks.
extension World {
  func startDevice(_ index: Int) {
    let device = devices[index]
    guard !device.isRunning else { return }
    if device.isDamaged { return reset(index) }
    device.isRunning = true
    device.life += 1
    device.timerAt = nil
    device.unseenJump = 0
    let records = device.disk.records()
    let ids = IDSource(seed: dice.next())
    if device.plan.isGuardians {
      device.guardian = GuardianMachine(
        device.address, of: device.plan.person.id, security: security(device),
        restoring: records, ids: ids)
    } else {
      device.child = ChildMachine(
        device.address, of: device.plan.person.id, apps: Scenario.apps,
        manifests: Scenario.manifests,
        security: security(device), restoring: records, ids: ids)
    }
    device.standings = device.apps.map { app in
      for case .app(app.id, let standing) in records { return standing }
      return AppProgress()
    }
    if !records.isEmpty { noteRestored(device, records) }
    for app in device.apps.indices where device.apps[app].isRunning { appMeetsDevice(index, app) }
    if device.guardian != nil { guardian(index, .started) }
    connect(index)
    planDeviceTimer(index)
  }

  func security(_ device: DeviceProcess) -> Security {
    let organizer = devices.first { $0.address.family == device.address.family }!
    return Security(device.vault, organizerKey: organizer.vault.signingKey)
  }

  private func noteRestored(_ device: DeviceProcess, _ records: [DeviceRecord]) {
    var seqs: [Audience: [UInt64]] = [:]
    var cursors: [Audience: UInt64] = [:]
    for record in records {
      if case .event(let event) = record { seqs[event.audience, default: []].append(event.seq) }
      if case .cursor(let cursor) = record { cursors[cursor.audience] = cursor.delivered }
    }
    device.passed = cursors
    for audience in Set(seqs.keys).union(cursors.keys).sorted() {
      let cursor = cursors[audience] ?? 0
      // What was not believed is not kept, and not missed.
      let gone = device.disbelieved[audience, default: []].filter { $0 <= cursor }
      let all = Set(seqs[audience] ?? []).union(gone).sorted()
      note(.restored(device.address, audience, all, cursor: cursor))
    }
    for (app, standing) in zip(device.apps, device.standings) where standing.registered {
      note(.registered(AppAddress(device.address, app.id)))
    }
  }

  /// The agent refuses a damaged file. Somebody removes it: the device starts from nothing, and each of its
  /// apps from nothing, too, or from what it was told by the device as it was.
  private func reset(_ index: Int) {
    let device = devices[index]
    device.isDamaged = false
    device.disk.wipe()
    note(.fault("device \(device.plan.id.rawValue) of family \(device.plan.family + 1) is reset"))
    forget(index)
    agenda.plan(.start(.device(index)), at: now + 200)
  }

  private func forget(_ index: Int) {
    let device = devices[index]
    note(.forgot(device.address))
    device.passed = [:]
    device.disbelieved = [:]
    for (number, app) in device.apps.enumerated() {
      note(.appForgot(AppAddress(device.address, app.id)))
      app.hasForgotten = true
      endApp(index, number, tells: false)
      if dice.chance(50) { app.disk.wipe() }
    }
  }

  /// The process ends; when the device loses power, its apps end, too.
  func endDevice(_ index: Int, power: Bool) {
    let device = devices[index]
    guard device.isRunning else { return }
    device.isRunning = false
    device.fuse = Fuse()
    device.changes = []
    device.effects = []
    device.disbelieving = 0
    device.topics = []
    disconnect(index)
    device.child = nil
    device.guardian = nil
    if power {
      device.disk.losePower(&dice)
      for (number, app) in device.apps.enumerated() {
        endApp(index, number, tells: false)
        app.disk.losePower(&dice)
      }
    } else {
      for app in device.apps { app.loseDevice() }
    }
    agenda.plan(.start(.device(index)), at: now + dice.within(20...3_000))
  }

  func survives(_ device: DeviceProcess, _ index: Int) -> Bool {
    guard device.isRunning else { return false }
    guard device.fuse.burns() else { return true }
    endDevice(index, power: device.fuse.power)
    return false
  }
}
