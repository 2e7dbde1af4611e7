import FamilyCore
import FamilyModel
import RelayStore
import SystemClock
import ZeroMQ

extension AgentHost {
  /// Questions admitted in one turn of the thread. Received messages come first, because they may
  /// end questions: a host that is late must not fall further behind with each question.
  private static let questionsPerTurn = 32
  /// The time that durable changes wait for others if no effect depends on them.
  static let commitDelay = Nanoseconds.milliseconds(5)
  /// The longest sleep; then deadlines are computed again.
  private static let longestSleep = Milliseconds.hours(1)

  /// Queues the effects of a step. They are carried out after the durable changes among them are
  /// committed.
  func perform(_ stepEffects: [DeviceEffect], for address: DeviceAddress) {
    if let deadline = devices[address]?.deadline { timers.set(address, deadline) }
    for effect in stepEffects {
      if case .persist(let records) = effect {
        changes += records.map { Change($0, under: address.recordKeyPrefix) }
        changesDue = changesDue ?? MonotonicInstant.now + Self.commitDelay
        if observer != nil { unreportedChanges.append((address, records)) }
        isStatusStale = true
        // Apps in this process are simulated, in numbers.
        if localApps == nil { reportResponses(records, on: address) }
      } else if case .requestAdmission(let question) = effect {
        enqueue(question, of: address)
      } else {
        effects.append((address, effect))
      }
    }
  }

  /// Ends a turn: runs due timers, commits the changes if an effect depends on them or they are
  /// due, and carries out the effects.
  ///
  /// - Returns: When to call the method again.
  func turn() -> MonotonicInstant? {
    let now = Instant.now
    let uptime = Milliseconds.milliseconds(MonotonicInstant.now.uptime.milliseconds)
    if clock.isSetBack(now, uptime: uptime) { clockSetBack(now) }
    runTimers(now: now)
    announcePresence()
    attachNext()
    releaseFreeMemory(now: now)
    var room = Self.questionsPerTurn
    admit(&room)
    while !effects.isEmpty || changesDue.map({ $0 <= MonotonicInstant.now }) ?? false {
      commit()
      let durable = effects
      effects = []
      for (address, effect) in durable { carryOut(effect, for: address) }
      admit(&room)
    }
    if isStatusStale { onChange?() }
    writeStatus(now)
    guarded { for connection in connections.values { try connection.reconnectIfStalled() } }
    return nextTurn(after: now)
  }

  private func clockSetBack(_ now: Instant) {
    statusWritten = min(statusWritten, now)
    timers.hasten(now)
    for address in devices.keys.sorted() {
      perform(devices[address]!.clockSetBack(now), for: address)
    }
  }

  private func runTimers(now: Instant) {
    var due: [DeviceAddress] = []
    while let address = timers.next(now) { due.append(address) }
    for address in due {
      guard let device = devices[address], let deadline = device.deadline else { continue }
      // The queue holds the earliest deadline that the device ever had. The current one may be
      // later.
      if deadline <= now {
        perform(device.timer(now), for: address)
      } else {
        timers.set(address, deadline)
      }
    }
  }

  /// Commits the durable changes in one transaction.
  func commit() {
    guarded {
      if !self.changes.isEmpty { try self.store.apply(self.changes) }
      self.changes.removeAll(keepingCapacity: true)
    }
    changesDue = nil
    for (address, records) in unreportedChanges { observer?.madeDurable(records, on: address) }
    unreportedChanges.removeAll(keepingCapacity: true)
  }

  /// When the next turn is due even without a message.
  private func nextTurn(after now: Instant) -> MonotonicInstant? {
    if hasQuestions { return MonotonicInstant.now }
    let status = isStatusStale ? statusWritten + Self.statusInterval : nil
    let wall = [timers.deadline, status, releaseMemoryAt].compactMap { $0 }.min()
    let due = wall.map { wall in
      let sleep = max(.milliseconds(1), min(wall - now, Self.longestSleep))
      return MonotonicInstant.now + .milliseconds(sleep.count)
    }
    return (connections.values.map(\.deadline) + [due, changesDue]).compactMap { $0 }.min()
  }
}
