import FamilyModel

extension RelayMachine.Family {
  /// Records that the device is attached if the request shows that it reads.
  ///
  /// A ping also schedules a delivery check: the family may have been evicted since the device
  /// attached.
  mutating func recordActivity(
    of device: DeviceID, _ owner: Member, _ request: Request, now: Instant
  ) -> Instant? {
    let reads = if case .command = request { false } else { true }
    deliveries.recordActivity(of: device, attaches: reads, now: now)
    switch request {
    case .ping, .present: return scheduleCheckIfLagging(device, owner, now: now)
    default: return nil
    }
  }

  /// Records a device that another device with the same key announced.
  mutating func recordPresence(
    of address: DeviceAddress, key: [UInt8], now: Instant,
    into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    guard let owner = state.roster.member(of: address.device, key: key) else {
      effects.append(.reply(address, id: .unnumbered, .failed(.notEnrolled)))
      return nil
    }
    deliveries.recordActivity(of: address.device, attaches: true, now: now)
    sendChannelsIfLate(address, owner, now: now, into: &effects)
    return scheduleCheckIfLagging(address.device, owner, now: now)
  }

  mutating func attach(
    _ cursors: [Cursor], _ owner: Member, from sender: RelayMachine.Sender, now: Instant,
    into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    moveCursors(cursors, back: true, sender.address, owner, into: &effects)
    let nextCheck = scheduleCheckIfLagging(sender.address.device, owner, now: now)
    effects.append(sender.reply(.attached(channels(of: owner), at: now)))
    return nextCheck
  }

  /// Whether every device has acknowledged every event.
  var isFullyAcknowledged: Bool {
    let devices = state.roster.devices
    return !devices.indices.contains { index in
      let (device, person) = (devices[index].id, devices[index].person)
      return state.roster.member(person).map { deliveries.lags(device, of: $0, state) } ?? false
    }
  }

  /// The `pong`, or the channels if the device is late.
  ///
  /// A late device may be subscribed to an earlier generation, or to a channel that was never
  /// approved. The channels' heads tell it to fetch.
  func pingReply(to address: DeviceAddress, _ owner: Member?, now: Instant) -> Reply {
    guard let owner, deliveries.isLate(address.device, of: owner, state) else { return .pong }
    return .attached(channels(of: owner), at: now)
  }

  func sendChannelsIfLate(
    _ address: DeviceAddress, _ owner: Member?, now: Instant,
    into effects: inout [RelayMachine.Effect]
  ) {
    guard let owner, deliveries.isLate(address.device, of: owner, state) else { return }
    effects.append(.reply(address, id: .unnumbered, .attached(channels(of: owner), at: now)))
  }

  private mutating func scheduleCheckIfLagging(
    _ device: DeviceID, _ owner: Member, now: Instant
  ) -> Instant? {
    guard !isCheckScheduled, deliveries.lags(device, of: owner, state) else { return nil }
    isCheckScheduled = true
    return deliveries.startChecks(state, isScheduled: false, now: now)
  }

  /// Checks which audiences have lagging readers, as ``DeliveryTracker/check(_:now:)`` does, and
  /// adds the generations of their channels.
  mutating func checkDeliveries(now: Instant)
    -> (lagging: [(Audience, generation: UInt32, seq: UInt64)], nextCheck: Instant?)
  {
    let (lagging, nextCheck) = deliveries.check(state, now: now)
    isCheckScheduled = nextCheck != nil
    return (lagging.map { ($0.audience, state.generation($0.audience), $0.seq) }, nextCheck)
  }

  private func channels(of person: Member) -> [Channel] {
    state.roster.audiences(of: person).map { audience in
      let head = state.position(audience)
      return Channel(
        audience: audience, generation: state.generation(audience), head: head.seq,
        hash: head.hash,
        receipt: audience.conversationChild.map { deliveries.receipt(state, $0) } ?? Receipt())
    }
  }

  mutating func moveCursors(
    _ cursors: [Cursor], back: Bool = false, _ address: DeviceAddress, _ person: Member,
    into effects: inout [RelayMachine.Effect]
  ) {
    // A correct device sends one cursor for each of its audiences.
    for cursor in cursors.prefix(RelayMachine.cursorsPerRequest)
    where state.roster.isMember(person, of: cursor.audience) {
      let head = state.head(cursor.audience)
      let old = deliveries.cursor(address.device, cursor.audience)
      guard
        let moved = deliveries.move(address.device, cursor, from: old, head: head, back: back)
      else { continue }
      effects.append(.cursor(address.family, address.device, moved))
      broadcastReceipt(of: moved, from: old, address, person, into: &effects)
    }
  }

  /// Broadcasts the guardians' new receipt if it covers a message of the child. Other receipts are
  /// not worth a broadcast.
  @inline(__always)
  private func broadcastReceipt(
    of moved: Cursor, from old: Cursor, _ address: DeviceAddress, _ person: Member,
    into effects: inout [RelayMachine.Effect]
  ) {
    let audience = moved.audience
    guard person.role.isGuardian, let child = audience.conversationChild,
      let last = state.lastOfChild[child], old.delivered < last || old.read < last
    else { return }
    var before = deliveries.receipt(state, child, without: address.device)
    var after = before
    before.advance(to: old)
    after.advance(to: moved)
    let isNew =
      before.delivered < last && after.delivered > before.delivered
      || before.read < last && after.read > before.read
    guard isNew else { return }
    effects.append(
      .broadcast(
        address.family, generation: state.generation(audience), audience,
        .receipt(audience, after)))
  }
}
