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
    case .subscribed(let id, let audience, let generation, let key):
      effects += subscribe(id, audience, generation, key)
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

  private mutating func subscribe(
    _ id: FamilyID, _ audience: Audience, _ generation: UInt32, _ key: [UInt8]
  ) -> [Effect] {
    guard let slot = families.slot(of: id) else { return [] }
    let state = families.open(slot) { $0.state }
    guard state.generation(audience) == generation,
      state.roster.devices.contains(where: { device in
        device.publicKey == key
          && state.roster.member(device.person).map { state.roster.isMember($0, of: audience) }
            ?? false
      })
    else { return [] }
    // The head shows a late subscriber which events it has missed.
    let head = Broadcast.head(audience, seq: state.head(audience))
    return [.approve, .broadcast(id, generation: generation, audience, head)]
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
