import FamilyCore
package import FamilyModel
import RelayWire
package import ZeroMQ

extension DeviceHost {
  /// Questions admitted in one turn. Received messages come first, because they may end questions: a
  /// host that is late must not fall further behind with each question.
  private static let questionsPerTurn = 32
  /// The time that durable changes wait for others if no effect depends on them.
  package static let commitDelay = Nanoseconds.milliseconds(5)
  /// The longest sleep; then deadlines are computed again.
  private static let longestSleep = Milliseconds.hours(1)

  /// Begins a turn with what is due.
  package func beginTurn() {
    let now = clock.now
    if clockWatch.isSetBack(now, uptime: clock.uptime) { clockSetBack() }
    runTimers(now: now)
    announcePresence()
    attachNext()
    releaseFreeMemory(now: now)
    room = Self.questionsPerTurn
  }

  /// The next transaction with the effects that depend on it; `nil` at the end of the turn.
  package func nextBatch() -> HostBatch? {
    admitQuestions()
    guard !effects.isEmpty || changesDue.map({ $0 <= clock.moment }) ?? false else { return nil }
    return takeBatch()
  }

  /// All that waits for a transaction.
  package func takeBatch() -> HostBatch {
    changesDue = nil
    let stepped = effects
    effects = []
    for (address, effect) in stepped {
      switch effect {
      case .persist, .requestAdmission: break
      case .send(let id, let request): send(id, request, of: address)
      case .listen(let channels, let resubscribes):
        listen(channels, resubscribes: resubscribes, of: address)
      default: waiting.effects.append(.local(effect, address))
      }
    }
    defer { waiting = HostBatch() }
    return waiting
  }

  /// When the next turn is due even without an input.
  package var deadline: MonotonicInstant? {
    if hasQuestions { return clock.moment }
    let due = [timers.deadline, releaseMemoryAt].compactMap { $0 }.min().map(moment)
    return (connections.values.map(\.presence.deadline) + [due, changesDue])
      .compactMap { $0 }.min()
  }

  /// The moment at which the wall clock reaches `instant`, a millisecond to an hour from now.
  package func moment(of instant: Instant) -> MonotonicInstant {
    let sleep = max(.milliseconds(1), min(instant - clock.now, Self.longestSleep))
    return clock.moment + .milliseconds(sleep.count)
  }

  // MARK: Timers

  private func clockSetBack() {
    timers.hasten(clock.now)
    for address in devices.keys.sorted() {
      perform(devices[address]!.step(.clockSetBack, or: .clockSetBack, clock), for: address)
    }
  }

  private func runTimers(now: Instant) {
    var due: [DeviceAddress] = []
    while let address = timers.next(now) { due.append(address) }
    for address in due {
      guard let device = devices[address], let deadline = device.findDeadline() else { continue }
      // The queue holds the earliest deadline that the device ever had. The current one may be
      // later.
      if deadline <= now {
        perform(device.step(.timer, or: .timer, clock), for: address)
      } else {
        timers.set(address, deadline)
      }
    }
  }

  // MARK: Attaching

  /// Attaches the devices that the queue admits. A device may have lost its connection while it
  /// waited.
  private func attachNext() {
    let now = clock.now
    let admitted = attachQueue.admit(now: now)
    if !admitted.isEmpty { releaseMemoryAt = now + AttachQueue.timeout }
    for address in admitted {
      guard let device = devices[address], device.isReachable else {
        attachQueue.remove(address)
        continue
      }
      perform(device.step(.connected, or: .connected, clock), for: address)
    }
  }

  /// Returns free memory to the system after many devices have attached.
  ///
  /// Meanwhile libzmq's threads queue messages for thousands of devices. Their allocators keep that
  /// memory, which is more than all the devices use.
  private func releaseFreeMemory(now: Instant) {
    guard let due = releaseMemoryAt, due <= now else { return }
    releaseMemoryAt = nil
    if devices.count >= AttachQueue.window.maximum { Context.releaseFreeMemory() }
  }

  /// Announces the attached devices that are due. Attaches the devices of lost connections again.
  private func announcePresence() {
    let now = clock.moment
    for key in connections.keys
    where connections[key]!.presence.deadline.map({ $0 <= now }) ?? false {
      for address in connections[key]!.presence.expire(now: now) {
        guard let device = devices[address] else { continue }
        perform(device.step(.disconnected, or: .disconnected, clock), for: address)
        attachQueue.enqueue(address)
      }
      let announced = connections[key]!.presence.announce(now: now)
      guard let first = announced.first else { continue }
      effects.append((first, .send(0, .present(Array(announced.dropFirst())))))
    }
  }
}
