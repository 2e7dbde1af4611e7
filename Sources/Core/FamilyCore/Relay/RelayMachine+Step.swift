public import FamilyModel

extension RelayMachine {
  /// The time of the next `timer` input; `nil`: never.
  public var deadline: Instant? { timers.deadline }

  /// Applies one input and returns its effects.
  public mutating func step(_ input: Input, now: Instant) -> [Effect] {
    var effects: [Effect] = []
    step(input, now: now, into: &effects)
    return effects
  }

  /// Applies one input and appends its effects.
  public mutating func step(_ input: consuming Input, now: Instant, into effects: inout [Effect]) {
    switch consume input {
    case .clockSetBack: timers.hasten(now)
    case .timer: effects += republish(now)
    case .subscribed(let device, let key): broadcastHeads(to: device, key, into: &effects)
    case .request(let address, let key, let administrator, let id, let request):
      let sender = Sender(address: address, key: key, isAdministrator: administrator, id: id)
      handle(request, from: sender, now: now, into: &effects)
    }
  }

  /// Handles a request, as the input `request` does. The input would copy the request.
  @discardableResult
  public mutating func handle(
    _ request: Request, from sender: Sender, now: Instant, into effects: inout [Effect]
  ) -> Disposition {
    let family = sender.address.family
    guard let slot = families.slot(of: family) else {
      effects.append(sender.refusal(of: request, .overloaded))
      return .notLoaded
    }
    let outcome = families[slot].handle(
      request, from: sender, now: now, verify: verify, snapshotEvery: snapshotEvery,
      into: &effects)
    if let nextCheck = outcome.nextCheck { timers.set(family, nextCheck) }
    if case .present(let others) = request, outcome.disposition == .served {
      recordPresence(of: others, key: sender.key, now: now, into: &effects)
    }
    if outcome.isSnapshotDue, let snapshot = families[slot].makeSnapshot(of: family) {
      effects.append(snapshot)
    }
    return outcome.disposition
  }

  /// Records the devices that another device with the same key announced.
  ///
  /// Skips families that are not held. Skips packed families in which no device lags; a
  /// later request records their devices once the family is open.
  private mutating func recordPresence(
    of devices: [DeviceAddress], key: [UInt8], now: Instant, into effects: inout [Effect]
  ) {
    // The bound also covers refusals: a correct device announces only its own key's devices.
    let limit = effects.count + Self.repliesPerRequest
    for device in devices where effects.count < limit {
      guard let slot = families.slot(of: device.family), !families.isIdle(slot) else { continue }
      let nextCheck = families[slot].recordPresence(of: device, key: key, now: now, into: &effects)
      if let nextCheck { timers.set(device.family, nextCheck) }
    }
  }

  /// Broadcasts the heads of the device's audiences: they show a late subscriber which events it has
  /// missed. A family that is not held has none to show.
  private mutating func broadcastHeads(
    to device: DeviceAddress, _ key: [UInt8], into effects: inout [Effect]
  ) {
    guard let slot = families.slot(of: device.family) else { return }
    let state = families.open(slot) { $0.state }
    guard let owner = state.roster.member(of: device.device, key: key) else { return }
    for audience in state.roster.audiences(of: owner) {
      let head = Broadcast.head(audience, seq: state.head(audience))
      effects.append(
        .broadcast(device.family, generation: state.generation(audience), audience, head))
    }
  }

  /// Passes the CURVE key of each device that may read the audience to `body`. Several devices may
  /// have the same key.
  public mutating func forEachReader(
    of audience: Audience, in family: FamilyID, _ body: ([UInt8]) -> Void
  ) {
    guard let slot = families.slot(of: family) else { return }
    families.open(slot) { $0.state.roster.forEachReader(of: audience, body) }
  }

  private mutating func republish(_ now: Instant) -> [Effect] {
    var effects: [Effect] = []
    for _ in 0..<Self.familiesPerTimer {
      guard let id = timers.next(now) else { break }
      guard let slot = families.slot(of: id) else { continue }
      let (lagging, nextCheck) = families[slot].checkDeliveries(now: now)
      if let nextCheck { timers.set(id, nextCheck) }
      effects += lagging.map { audience, generation, seq in
        .republish(id, generation: generation, audience, seq)
      }
    }
    return effects
  }
}
