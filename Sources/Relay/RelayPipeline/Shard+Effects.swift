import Credentials
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
      if case .attached = reply.reply {
        reply.pass = passes.pass(device.family, key)
        if let key = PeerKey(key) {
          output.attachments.append(
            .init(reply: output.replies.count, device: device, key: key))
        }
      }
      output.replies.append((route, reply.encode()))
    case .page(let device, let id, let audience, let after, let upTo):
      output.reads.append(
        .page(
          .init(
            route: route, device: device, id: id.rawValue, audience: audience, after: after,
            upTo: upTo)))
    case .broadcast(let family, let generation, let audience, let broadcast):
      let readers = appendReaders(of: broadcast, to: audience, in: family)
      // A broadcast without readers needs no seal.
      guard !readers.isEmpty else { return }
      let frame = seal(broadcast, family, audience, generation)
      output.broadcasts.append(.init(frame: frame, readers: readers))
    case .republish(let family, let generation, let audience, let seq):
      output.reads.append(
        .republish(
          .init(family: family, generation: generation, audience: audience, seq: seq)))
    }
  }

  /// Adds the keys of the broadcast's readers to the output, each once.
  ///
  /// A new roster has the readers of the roster before, too: a removed device learns of its removal.
  private mutating func appendReaders(
    of broadcast: Broadcast, to audience: Audience, in family: FamilyID
  ) -> Range<Int> {
    let start = output.readers.count
    if let onlyReader {
      output.readers.append(onlyReader)
    } else {
      if case .event(let event) = broadcast, case .rosterChanged = event.body {
        output.readers += formerReaders
      }
      machine.appendKeys(of: audience, in: family, to: &output.readers, from: start)
    }
    return start..<output.readers.count
  }

  /// The keys of the audience's readers, each once.
  mutating func readers(of audience: Audience, in family: FamilyID) -> [PeerKey] {
    var keys: [PeerKey] = []
    machine.appendKeys(of: audience, in: family, to: &keys, from: 0)
    return keys
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
  ///
  /// - Returns: The frame: see ``SealedBroadcast``.
  mutating func seal(
    _ broadcast: Broadcast, _ family: FamilyID, _ audience: Audience, _ generation: UInt32
  ) -> [UInt8] {
    let channel = channels.sealingChannel(family, audience, generation)
    var bytes: [UInt8]
    if case .event(let event) = broadcast, let last = output.lastEncodedEvent,
      last.family == family, last.seq == event.seq
    {
      bytes = Broadcast.encode(event: last.bytes)
    } else {
      bytes = broadcast.encode()
    }
    if case .event(let event) = broadcast, bytes.count > RelayLimits.broadcastBytes {
      bytes = Broadcast.head(audience, seq: event.seq).encode()
    }
    guard sealsBroadcasts else {
      return SealedBroadcast(topic: channel.topic, sealed: bytes).frame
    }
    return sealer.sealFrame(bytes, topic: channel.topic, key: channel.key)
  }
}

extension RelayMachine {
  /// Appends the keys of the audience's readers that are not among the keys from `start` on.
  fileprivate mutating func appendKeys(
    of audience: Audience, in family: FamilyID, to keys: inout [PeerKey], from start: Int
  ) {
    forEachReader(of: audience, in: family) { bytes in
      guard let key = PeerKey(bytes), !keys[start...].contains(key) else { return }
      keys.append(key)
    }
  }
}

extension ShardOutput {
  /// Adds a refusal of a message that could not be decoded, and counts the message as malformed.
  ///
  /// - Parameter head: The head of the request. Its device is not verified, but the reply leaves on the
  ///   connection of the request. `nil`: the reply names no device.
  mutating func appendFailure(_ problem: Problem, _ route: [UInt8], _ head: Envelope.Peek? = nil) {
    malformed += 1
    refusals[Int(problem.code), default: 0] += 1
    let unknownDevice = DeviceAddress(family: FamilyID(0), device: DeviceID(0))
    let reply = ReplyEnvelope(
      device: head?.device ?? unknownDevice, requestID: head?.requestID ?? 0,
      reply: head?.commandID.map { .refused($0, problem) } ?? .failed(problem))
    replies.append((route, reply.encode()))
  }
}
