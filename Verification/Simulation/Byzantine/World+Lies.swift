import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The lies of a dishonest relay about single messages.
extension World {
  private func tells(_ lie: DishonestRelay.Lie, _ percent: Int) -> Bool {
    dishonest!.tells(lie, percent, &dishonesty)
  }

  // MARK: Requests

  /// Lies about a request before the machine of the device's branch receives it.
  ///
  /// - Returns: Whether the machine receives the request.
  func passes(_ envelope: Envelope, of device: Int, _ connection: Int) -> Bool {
    guard isLying else { return true }
    if dishonesty.chance(4) { changeHistories(for: envelope.device.family) }
    guard openBranch(of: device) else { return false }
    if tells(.losses, 6) { return false }
    if tells(.delays, 5) || tells(.repetitions, 8) {
      let isLate = dishonesty.chance(50)
      queue.schedule(
        .request(device, connection: connection, envelope),
        at: now + dishonesty.milliseconds(50...20_000))
      if isLate { return false }
    }
    guard case .command(let id, _, _) = envelope.request else {
      guard tells(.refusals, 3) else { return true }
      reply(.failed(anyProblem()), to: envelope, device, connection)
      return false
    }
    if tells(.acceptances, 6) {
      reply(
        .accepted(id, seq: UInt64(dishonesty.below(60))), to: envelope, device, connection)
      return false
    }
    if tells(.refusals, 6) {
      reply(.refused(id, anyProblem()), to: envelope, device, connection)
      return false
    }
    return true
  }

  private func anyProblem() -> Problem {
    Problem(
      code: UInt16(100 + dishonesty.below(450)),
      retryAfter: dishonesty.milliseconds(0...5_000),
      relayTime: dishonesty.chance(20) ? anyTime() : nil)
  }

  private func anyTime() -> Instant {
    clock(.zero) + dishonesty.milliseconds(-90_000_000...90_000_000)
  }

  private func reply(
    _ reply: Reply, to envelope: Envelope, _ device: Int, _ connection: Int
  ) {
    let reply = ReplyEnvelope(
      device: envelope.device, requestID: envelope.requestID, reply: reply)
    transmit(reply.encode(), to: device, connection, at: now)
  }

  // MARK: Replies

  /// Sends a reply, or a lie in its place.
  func lie(_ envelope: ReplyEnvelope, to device: Int, _ connection: Int) {
    var envelope = envelope
    if tells(.losses, 5) { return }
    envelope.reply = altered(envelope.reply, of: envelope.device.family)
    var bytes = envelope.encode()
    if tells(.flips, 4) { flip(&bytes) }
    let wait = tells(.delays, 5) ? dishonesty.milliseconds(50...20_000) : .zero
    transmit(bytes, to: device, connection, at: now + wait)
    if tells(.repetitions, 6) {
      transmit(
        bytes, to: device, connection, at: now + dishonesty.milliseconds(0...20_000))
    }
  }

  /// Delivers the bytes of a reply if a device can decode them.
  private func transmit(
    _ bytes: [UInt8], to device: Int, _ connection: Int, at time: Milliseconds
  ) {
    let decoded = bytes.withUnsafeBytes { try? ReplyEnvelope.decode($0) }
    guard var decoded else { return }
    decoded.reply = decoded.reply.opened()
    guard device >= 0 else { return administratorReceives(decoded) }
    queue.schedule(
      .reply(device, connection: connection, decoded), at: max(time, now + .milliseconds(1)))
  }

  private func flip(_ bytes: inout [UInt8]) {
    for _ in 0..<(1 + dishonesty.below(3)) where !bytes.isEmpty {
      bytes[dishonesty.below(bytes.count)] ^= UInt8(1 << dishonesty.below(8))
    }
  }

  private func altered(_ reply: Reply, of family: FamilyID) -> Reply {
    switch reply {
    case .attached(var channels, let time):
      guard tells(.attachments, 20) else { return reply }
      for index in channels.indices where dishonesty.chance(50) {
        alter(&channels[index], family)
      }
      if dishonesty.chance(10), !channels.isEmpty {
        channels.remove(at: dishonesty.below(channels.count))
      }
      return .attached(channels, at: dishonesty.chance(20) ? anyTime() : time)
    case .page(let audience, let events, let more):
      if tells(.events, 15) {
        return .page(
          audience, edited(events, family), more: dishonesty.chance(20) ? !more : more)
      }
      if tells(.reveals, 8) { return .page(audience, foreign(family), more: more) }
      return reply
    case .accepted(let id, let seq):
      return tells(.acceptances, 5) ? .accepted(id, seq: seq + 1) : reply
    default: return reply
    }
  }

  private func alter(_ channel: inout Channel, _ family: FamilyID) {
    switch dishonesty.below(5) {
    case 0: channel.head += UInt64(dishonesty.below(9))
    case 1: channel.head -= min(channel.head, UInt64(dishonesty.below(9)))
    case 2: channel.hash = ChainHash(bytes: [UInt8](repeating: 7, count: 32))!
    case 3:
      channel.generation += 1
      channel.topic = ChannelName.bytes(family, channel.audience, channel.generation)
    default:
      channel.receipt = Receipt(delivered: channel.head + 3, read: channel.head + 2)
    }
  }

  // MARK: Events

  /// The events of a page or broadcast, edited.
  private func edited(_ events: [Event], _ family: FamilyID) -> [Event] {
    guard let first = events.first else { return foreign(family) }
    let before = relay.disk.intactEvents(of: family).filter { $0.seq < first.seq }
      .map { try! Event.decode($0.payload) }
    return dishonest!.forger.edited(
      events, after: before, of: family, relinks: dishonesty.chance(80))
  }

  /// Events of another audience or family.
  private func foreign(_ family: FamilyID) -> [Event] {
    let families = relay.disk.families.keys.sorted()
    guard !families.isEmpty else { return [] }
    let stored = relay.disk.intactEvents(of: dishonesty.pick(families)).suffix(4)
    return stored.map { try! Event.decode($0.payload) }
  }

  /// Publishes a broadcast to the devices of the open branch, or a lie in its place.
  func lie(_ broadcast: Broadcast, _ topic: [UInt8], on inbox: Inbox) {
    var broadcasts = [broadcast]
    guard let family = ChannelName.channel(of: topic)?.family else { return }
    if case .event(let event) = broadcast {
      dishonest!.forger.learn(event, of: family)
      if tells(.events, 12) { broadcasts = edited([event], family).map(Broadcast.event) }
      if tells(.reveals, 6) { broadcasts += foreign(family).map(Broadcast.event) }
    }
    if tells(.repetitions, 8) { broadcasts += broadcasts }
    let readers = (relay.listeners[inbox] ?? []).filter {
      tells(.reveals, 10) || dishonest!.shown[$0] ?? 0 == dishonest!.active
    }
    for broadcast in broadcasts {
      for device in readers where !tells(.losses, 10) {
        var bytes = broadcast.encode()
        if tells(.flips, 4) { flip(&bytes) }
        guard let decoded = try? Broadcast.decode(bytes).opened() else { continue }
        let wait = tells(.delays, 6) ? 20_000 : 20
        queue.schedule(
          .broadcast(
            device, connection: devices[device].connection, topic: topic, decoded),
          at: now + dishonesty.milliseconds(1...Int64(wait)))
      }
    }
  }
}
