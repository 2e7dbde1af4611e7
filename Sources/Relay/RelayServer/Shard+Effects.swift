import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

extension Shard {
  /// Keeps what a step wants done until the commit: encoded, and sealed.
  mutating func take(_ effect: RelayMachine.Effect, route: [UInt8]) {
    switch effect {
    case .approve: break
    case .append(let family, let event):
      let bytes = event.encode()
      outgoing.encoded = (family, event.seq, bytes)
      outgoing.events.append(
        StoredEvent(
          family: family, seq: event.seq, audience: event.audience, command: event.command,
          at: event.at, payload: bytes))
    case .snapshot(let family, let seq, let bytes):
      outgoing.snapshots.append(StoredSnapshot(family: family, seq: seq, payload: bytes))
    case .cursor(let family, let device, let cursor):
      cursors.add(StoredCursor(family: family, device: device, cursor: cursor))
    case .reply(let device, let id, let reply):
      let reply = ReplyEnvelope(device: device, requestID: id, reply: named(reply, device.family))
      outgoing.replies.append((route, reply.encode()))
    case .page(let device, let id, let audience, let after, let upTo):
      outgoing.pages.append(
        .init(route: route, device: device, id: id, audience: audience, after: after, upTo: upTo))
    case .broadcast(let family, let generation, let audience, let broadcast):
      outgoing.broadcasts.append(sealed(broadcast, family, audience, generation))
    case .republish(let family, let generation, let audience, let after, let limit):
      outgoing.republishes.append(
        .init(
          family: family, generation: generation, audience: audience, after: after, limit: limit,
          upTo: machine.seq(of: family)))
    }
  }

  /// Fills in the topics and keys, which the machine does not know.
  private mutating func named(_ reply: Reply, _ family: FamilyID) -> Reply {
    guard case .attached(var list) = reply else { return reply }
    for index in list.indices {
      let (topic, key) = channels.channel(family, list[index].audience, list[index].generation)
      list[index].topic = topic
      list[index].key = key
    }
    return .attached(list)
  }

  /// The broadcast as it travels on its channel.
  mutating func sealed(
    _ broadcast: Broadcast, _ family: FamilyID, _ audience: Audience, _ generation: UInt32
  ) -> (topic: [UInt8], bytes: [UInt8]) {
    let channel = channels.sealing(family, audience, generation)
    let bytes: [UInt8]
    if case .event(let event) = broadcast, let last = outgoing.encoded, last.family == family,
      last.seq == event.seq
    {
      bytes = Broadcast.encode(event: last.bytes)
    } else {
      bytes = broadcast.encode()
    }
    if plainKey != nil { return (channel.topic, bytes) }
    return (channel.topic, sealer.seal(bytes, topic: channel.topic, key: channel.key))
  }
}

extension ShardOutput {
  /// Answers what could not be read with the number of the reason, and counts it.
  mutating func refuse(_ problem: Problem, _ route: [UInt8]) {
    malformed += 1
    let nobody = DeviceAddress(family: FamilyID(0), device: DeviceID(0))
    let reply = ReplyEnvelope(device: nobody, requestID: 0, reply: .failed(problem))
    replies.append((route, reply.encode()))
  }
}
