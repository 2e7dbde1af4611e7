import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

extension Shard {
  /// Adds the effect to the output, encoded and sealed. The output leaves after its commit.
  ///
  /// - Parameters:
  ///   - route: The route of replies.
  ///   - key: The key of the connection at the route.
  ///   - now: The wall clock.
  mutating func collect(
    _ effect: RelayMachine.Effect, route: [UInt8], key: [UInt8], now: Instant
  ) {
    switch effect {
    case .approve: break
    case .append(let family, let event):
      let bytes = event.encode()
      output.lastEncodedEvent = (family, event.seq, bytes)
      output.events.append(
        StoredEvent(
          family: family, seq: event.seq, audience: event.audience, device: event.device,
          command: event.command, at: event.at, payload: bytes))
    case .snapshot(let family, let seq, let bytes):
      output.snapshots.append(StoredSnapshot(family: family, seq: seq, payload: bytes))
    case .passcodeLock(let family, let bytes):
      output.passcodeLocks.append(
        StoredPasscodeLock(family: family, payload: passcodeLocks.seal(bytes, of: family)))
    case .cursor(let family, let device, let cursor):
      cursors.add(StoredCursor(family: family, device: device, cursor: cursor), now: now)
    case .reply(let device, let id, let reply):
      output.countRefusal(reply)
      var reply = ReplyEnvelope(
        device: device, requestID: id.rawValue, reply: addingChannels(to: reply, device.family))
      if case .attached = reply.reply { reply.pass = passes.pass(device.family, key) }
      output.replies.append((route, reply.encode()))
    case .page(let device, let id, let audience, let after, let upTo):
      output.pages.append(
        .init(
          route: route, device: device, id: id.rawValue, audience: audience, after: after,
          upTo: upTo))
    case .broadcast(let family, let generation, let audience, let broadcast):
      output.broadcasts.append(seal(broadcast, family, audience, generation))
    case .republish(let family, let generation, let audience, let seq):
      output.republishes.append(
        .init(
          family: family, generation: generation, audience: audience, seq: seq))
    }
  }

  /// Adds topics and keys to a reply to attach: the machine does not know them.
  private mutating func addingChannels(to reply: Reply, _ family: FamilyID) -> Reply {
    guard case .attached(var list, let time) = reply else { return reply }
    for index in list.indices {
      let (topic, key) = channels.channel(family, list[index].audience, list[index].generation)
      list[index].topic = topic
      list[index].key = key
    }
    return .attached(list, at: time)
  }

  /// Encodes and seals the broadcast for its channel.
  mutating func seal(
    _ broadcast: Broadcast, _ family: FamilyID, _ audience: Audience, _ generation: UInt32
  ) -> (topic: [UInt8], bytes: [UInt8]) {
    let channel = channels.sealingChannel(family, audience, generation)
    let bytes: [UInt8]
    if case .event(let event) = broadcast, let last = output.lastEncodedEvent,
      last.family == family, last.seq == event.seq
    {
      bytes = Broadcast.encode(event: last.bytes)
    } else {
      bytes = broadcast.encode()
    }
    guard sealsBroadcasts else { return (channel.topic, bytes) }
    return (channel.topic, sealer.seal(bytes, topic: channel.topic, key: channel.key))
  }
}

extension ShardOutput {
  /// Adds a failure reply to a message that could not be decoded, and counts the message as
  /// malformed.
  mutating func appendFailure(_ problem: Problem, _ route: [UInt8]) {
    malformed += 1
    refusals[Int(problem.code), default: 0] += 1
    let unknownDevice = DeviceAddress(family: FamilyID(0), device: DeviceID(0))
    let reply = ReplyEnvelope(device: unknownDevice, requestID: 0, reply: .failed(problem))
    replies.append((route, reply.encode()))
  }
}
