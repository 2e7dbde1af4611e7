import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

extension World {
  func inject(_ act: Act) {
    record(.fault("\(act)"))
    switch act {
    case .crash(.relay, let boundaries, let power): relay.crash.arm(after: boundaries, power: power)
    case .crash(.device(let index), let boundaries, let power):
      devices[index].crash.arm(after: boundaries, power: power)
    case .crash(.app(let index, let app), let boundaries, let power):
      self.app(index, app)?.crash.arm(after: boundaries, power: power)
    case .slow(let process, let by, let until):
      slow(process, by: by)
      queue.schedule(.slowEnds(process), at: until)
    case .link(let index, let fault, let until):
      let number = devices[index].begin(linkFault: fault)
      queue.schedule(.linkEnds(index, fault: number), at: until)
    case .cut(let index):
      disconnect(index)
      connect(index)
    case .disk(let process, let fault, let until):
      setDiskFault(fault, of: process)
      queue.schedule(.diskFaultEnds(process), at: until)
    case .flip(let process): flip(process)
    case .clock(let process, let by): jump(process, by)
    case .evict:
      if relay.isRunning { relay.process?.pipeline.forEachMachine { $0.evict(downTo: 0) } }
    default: break
    }
  }

  func app(_ index: Int, _ app: Int) -> SimulatedApp? {
    devices[index].apps.indices.contains(app) ? devices[index].apps[app] : nil
  }

  func slow(_ process: Act.Process, by: Milliseconds) {
    switch process {
    case .relay: relay.delay = by
    case .device(let index): devices[index].delay = by
    case .app(let index, let app): self.app(index, app)?.delay = by
    }
  }

  /// Flips a bit on disk. Checksums show the damage at the next start or read.
  private func flip(_ process: Act.Process) {
    switch process {
    case .relay: if relay.disk.flip(&random) { endRelay(power: false) }
    case .device(let index):
      devices[index].isDamaged = true
      endDevice(index, power: false)
    case .app: break
    }
  }

  private func jump(_ process: Act.Process, _ by: Milliseconds) {
    switch process {
    case .relay:
      if by < .zero { reach(.relayClockSetBack) }
      relay.clock += by
      // A relay with connections checks them, and so its clock, four times a second.
      scheduleRelayTimer(after: SimulatedRelay.clockCheckInterval)
    case .device(let index):
      if by < .zero { reach(.deviceClockSetBack) }
      // The process notices it in its next turn.
      devices[index].clock += by
    case .app: break
    }
  }

  // MARK: healing

  /// Ends all faults and brings all devices online. People do nothing new from here on.
  private func heal() {
    hasHealed = true
    record(.healed)
    relay.crash = CrashCountdown()
    relay.disk.fault = nil
    relay.disk.repair()
    endDishonesty()
    slow(.relay, by: .zero)
    correctRelayClock()
    // Without reconnecting, a connection that suffered the faults must recover.
    let reconnects = random.chance(30)
    for (index, device) in devices.enumerated() {
      device.crash = CrashCountdown()
      device.diskFault = nil
      device.delay = .zero
      device.endLinkFaults()
      device.isOnline = true
      for app in device.apps {
        app.crash = CrashCountdown()
        app.diskFault = nil
        app.delay = .zero
      }
      if reconnects { disconnect(index) }
      connect(index)
    }
  }

  /// Sets the relay's clock forward if it is behind the families' statements. A device sends no
  /// statement that would count before one that it knows.
  private func correctRelayClock() {
    let events = ([relay.disk.families] + honestHistories)
      .flatMap { $0.values.flatMap(\.events) }
    guard let latest = events.map({ max($0.at, $0.command.time) }).max(),
      latest > clock(relay.clock)
    else { return }
    jump(.relay, latest - clock(relay.clock))
  }

  func checkConvergence() {
    if !hasHealed { heal() }
    guard let work = unfinished() else {
      record(.converged)
      recordAges()
      recordViews()
      end = now
      return
    }
    let timeout = dishonest == nil ? Self.convergenceTimeout : Self.longConvergenceTimeout
    if now > scenario.healing + timeout {
      record(.notConverged(work))
      end = now
      return
    }
    queue.schedule(
      .checkConvergence, at: now + (member == nil ? .milliseconds(500) : .seconds(2)))
  }

  /// Records the age answers that devices remember.
  private func recordAges() {
    for family in relay.disk.families.keys.sorted() {
      let roster = StoredHeads(relay.disk.intactEvents(of: family)).roster
      for device in devices
      where device.address.family == family && isPlanned(device, in: roster) {
        guard let member = roster.owner(of: device.plan.id) else { continue }
        for person in roster.audiences(of: member).compactMap(\.accountPerson) {
          for app in Scenario.apps {
            let memory = device.link.age(of: person).memory(app)
            record(.remembersAge(device.address, person, app, memory))
          }
        }
      }
    }
  }

  /// The first unfinished work; `nil` when the system has converged.
  func unfinished() -> String? {
    guard relay.isRunning else { return "the relay" }
    guard relay.inbox.isEmpty, administrator.pending.isEmpty else { return "requests" }
    for family in relay.disk.families.keys.sorted() {
      let log = StoredHeads(relay.disk.intactEvents(of: family))
      for (index, device) in devices.enumerated() where device.address.family == family {
        guard isPlanned(device, in: log.roster) else { continue }
        if let what = unfinished(index, log) {
          return "device \(device.plan.id.rawValue) of family \(family.rawValue): \(what)"
        }
      }
    }
    return disagreement()
  }

  private func unfinished(_ index: Int, _ log: StoredHeads) -> String? {
    let device = devices[index]
    guard device.isRunning else { return "not running" }
    // The dishonest relay showed a guardian's removal to this device alone. The device stays out.
    if dishonest != nil, device.link.roster.owner(of: device.plan.id) == nil,
      device.link.isShutOut
    {
      return nil
    }
    guard device.link.pendingCommands.isEmpty else { return "its outbox" }
    // The dishonest member's events may wait for a key for ever, and a statement in a history that the
    // relay no longer shows stays deferred.
    guard
      device.link.deferredCount == 0 || dishonest != nil
        || device.address.family == member?.family
    else { return "keys" }
    guard let person = log.roster.owner(of: device.plan.id) else { return nil }
    let position = device.link.position
    for audience in log.roster.audiences(of: person) {
      let delivered = position.first { $0.audience == audience }?.delivered ?? 0
      let head = log.heads[audience] ?? 0
      if delivered < head || dishonest != nil && delivered > head { return "not at the head" }
    }
    for (number, app) in device.apps.enumerated() {
      let standing = device.progress[number]
      // A person must open an app once that never registered or lost its disk.
      if app.hasLostState || !standing.registered, app.life > 0 {
        if !app.isRunning { startApp(index, number, byDevice: false) }
        return "app \(number) is opened"
      }
      if standing.registered, standing.acknowledged < standing.head {
        // The device does not launch an app without consent, so a person opens the app.
        if device.child?.consents.isWithdrawn(app.id) ?? false, !app.isRunning {
          startApp(index, number, byDevice: false)
        }
        return "app \(number)"
      }
    }
    return nil
  }
}

/// The head of each audience and the latest roster of a stored log.
private struct StoredHeads {
  var heads: [Audience: UInt64] = [:]
  var roster = Roster()

  init(_ events: [StoredEvent]) {
    for event in events { heads[event.audience] = event.seq }
    for event in events.reversed() where event.audience == .family {
      if case .rosterChanged(let new) = try! Event.decode(event.payload).body {
        roster = new
        return
      }
    }
  }
}
