import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

extension World {
  func breakSomething(_ act: Act) {
    note(.fault("\(act)"))
    switch act {
    case .crash(.relay, let boundaries, let power): relay.fuse.light(boundaries, power: power)
    case .crash(.device(let index), let boundaries, let power):
      devices[index].fuse.light(boundaries, power: power)
    case .crash(.app(let index, let app), let boundaries, let power):
      self.app(index, app)?.fuse.light(boundaries, power: power)
    case .slow(let process, let by, let until):
      slow(process, by: by)
      agenda.plan(.slowEnds(process), at: until)
    case .link(let index, let fault, let until):
      let number = devices[index].begin(linkFault: fault)
      agenda.plan(.linkEnds(index, fault: number), at: until)
    case .cut(let index):
      disconnect(index)
      connect(index)
    case .full(let process, let until):
      fill(process, true)
      agenda.plan(.fullEnds(process), at: until)
    case .flip(let process): flip(process)
    case .clock(let process, let by): jump(process, by)
    case .evict: if relay.isRunning, relay.outgoing.batch.isEmpty { relay.machine.evict(most: 0) }
    default: break
    }
  }

  private func app(_ index: Int, _ app: Int) -> AppProcess? {
    devices[index].apps.indices.contains(app) ? devices[index].apps[app] : nil
  }

  func slow(_ process: Act.Process, by: Int64) {
    switch process {
    case .relay: relay.delay = by
    case .device(let index): devices[index].delay = by
    case .app(let index, let app): self.app(index, app)?.delay = by
    }
  }

  func fill(_ process: Act.Process, _ isFull: Bool) {
    switch process {
    case .relay: relay.disk.isFull = isFull
    case .device(let index): devices[index].isFull = isFull
    case .app(let index, let app): self.app(index, app)?.isFull = isFull
    }
  }

  /// Sums show the damage when the file is read: at the process's next start, or at the relay's next page.
  private func flip(_ process: Act.Process) {
    switch process {
    case .relay: if relay.disk.flip(&dice) { endRelay(power: false) }
    case .device(let index):
      devices[index].isDamaged = true
      endDevice(index, power: false)
    case .app: break
    }
  }

  private func jump(_ process: Act.Process, _ by: Int64) {
    switch process {
    case .relay:
      relay.clock += by
      note(by, process, &relay.unseenJump)
      planRelayTimer()
    case .device(let index):
      devices[index].clock += by
      note(by, process, &devices[index].unseenJump)
      planDeviceTimer(index)
    case .app: break
    }
  }

  /// A shell sees what all jumps since its last look come to.
  private func note(_ by: Int64, _ process: Act.Process, _ unseen: inout Int64) {
    guard unseen == 0 else { return unseen += by }
    guard by < -Self.clockStep else { return }
    unseen = by
    agenda.plan(.clockSeen(process), at: now + dice.within(0...15_000))
  }

  /// As `ClockWatch.step`.
  private static let clockStep: Int64 = 1_000

  /// As the shells' turns do: the next one after the step back sees it, if it is still the same process.
  func seeClock(_ process: Act.Process) {
    guard mutant != .clockSetBack else { return }
    switch process {
    case .relay:
      let jump = relay.unseenJump
      relay.unseenJump = 0
      guard relay.isRunning, jump < -Self.clockStep else { return }
      let now = clock(relay.clock)
      _ = relay.machine.step(.clockSetBack, now: now)
      relay.outgoing.cursorsDue = relay.outgoing.cursorsDue.map { min($0, now) }
      planRelayTimer()
    case .device(let index):
      let jump = devices[index].unseenJump
      devices[index].unseenJump = 0
      guard devices[index].isRunning, jump < -Self.clockStep else { return }
      deviceInput(index, .clockSetBack)
    case .app: break
    }
  }

  // MARK: the end

  /// From here on nothing breaks: everything runs, everybody is on line, and nobody does anything new.
  private func heal() {
    hasHealed = true
    note(.healed)
    relay.fuse = Fuse()
    relay.disk.isFull = false
    relay.disk.repair()
    slow(.relay, by: 0)
    // A connection that saw the faults must come to life again by itself.
    let connectsAnew = dice.chance(30)
    for (index, device) in devices.enumerated() {
      device.fuse = Fuse()
      device.isFull = false
      device.delay = 0
      device.endLinkFaults()
      device.isOnline = true
      for app in device.apps {
        app.fuse = Fuse()
        app.isFull = false
        app.delay = 0
      }
      if connectsAnew { disconnect(index) }
      connect(index)
    }
  }

  func checkRest() {
    if !hasHealed { heal() }
    guard let unrest = unrest() else {
      note(.converged)
      noteAges()
      end = now
      return
    }
    if now > scenario.healing + Self.patience {
      note(.stuck(unrest))
      end = now
      return
    }
    agenda.plan(.checksRest, at: now + 500)
  }

  /// What the devices of the families remember that apps were told.
  private func noteAges() {
    for family in relay.disk.families.keys.sorted() {
      let roster = StoredHeads(relay.disk.families[family]!.events).roster
      for device in devices where device.address.family == family {
        guard let member = roster.owner(of: device.plan.id) else { continue }
        for person in roster.audiences(of: member).compactMap(\.accountPerson) {
          for app in Scenario.apps {
            let memory = device.link.age(of: person).memory(app)
            note(.remembersAge(device.address, person, app, memory))
          }
        }
      }
    }
  }

  /// What is still under way.
  private func unrest() -> String? {
    guard relay.isRunning else { return "the relay" }
    guard relay.inbox.isEmpty, administrator.pending.isEmpty else { return "requests" }
    for family in relay.disk.families.keys.sorted() {
      let log = StoredHeads(relay.disk.families[family]!.events)
      for (index, device) in devices.enumerated() where device.address.family == family {
        guard log.roster.device(device.plan.id) != nil else { continue }
        if let what = unrest(index, log) {
          return "device \(device.plan.id.rawValue) of family \(family.rawValue): \(what)"
        }
      }
    }
    return nil
  }

  private func unrest(_ index: Int, _ log: StoredHeads) -> String? {
    let device = devices[index]
    guard device.isRunning else { return "not running" }
    guard device.link.waiting.isEmpty else { return "its outbox" }
    guard device.link.asideCount == 0 else { return "keys" }
    guard let person = log.roster.owner(of: device.plan.id) else { return nil }
    let position = device.link.position
    for audience in log.roster.audiences(of: person) {
      let delivered = position.first { $0.audience == audience }?.delivered ?? 0
      if delivered < log.heads[audience] ?? 0 { return "behind" }
    }
    for (number, app) in device.apps.enumerated() {
      let standing = device.standings[number]
      // Who never listened, or lost its disk, has to be opened once by a person.
      if app.hasForgotten || !standing.registered, app.life > 0 {
        if !app.isRunning { startApp(index, number, byDevice: false) }
        return "app \(number) is opened"
      }
      if standing.registered, standing.acknowledged < standing.head { return "app \(number)" }
    }
    return nil
  }
}

/// How far each audience has come, and who is in the family.
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
