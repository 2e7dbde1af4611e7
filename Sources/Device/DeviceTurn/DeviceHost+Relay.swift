import Credentials
import FamilyCore
package import FamilyModel
package import RelayWire
package import ZeroMQ

/// The connections to the relay, and what the relay sends.
extension DeviceHost {
  /// The state of a key's connection has changed.
  package func connectionChanged(_ state: ConnectionHealth.State, of key: [UInt8]) {
    connections[key]?.questionWindow.restart()
    for address in devices.keys.sorted() {
      guard let device = devices[address], device.key == key, device.isInFamily,
        device.connection != state
      else { continue }
      update(device) { $0.connection = state }
    }
  }

  /// Connects one device to the network or disconnects it, as airplane mode does.
  package func setOnline(_ isOnline: Bool, _ address: DeviceAddress) {
    guard let device = devices[address], device.isOnline != isOnline else { return }
    update(device) { $0.isOnline = isOnline }
  }

  /// Changes the device's connectivity, and attaches or disconnects the device if its reachability
  /// changes.
  private func update(_ device: HostedDevice, _ change: (HostedDevice) -> Void) {
    let wasReachable = device.isReachable
    change(device)
    hasChanged = true
    let address = device.link.address
    if device.isReachable, !wasReachable {
      attachQueue.enqueue(address)
    } else if wasReachable, !device.isReachable {
      attachQueue.remove(address)
      connections[device.key]?.presence.remove(address)
      perform(device.step(.disconnected, or: .disconnected, clock), for: address)
    }
  }

  /// A message arrived over the requests' connection of the key.
  package func messageArrived(key: [UInt8]) { connections[key]?.presence.messageArrived() }

  /// Handles a reply of the relay; `nil` for bytes that are none.
  package func received(_ envelope: ReplyEnvelope?, key: [UInt8]) {
    guard let envelope, let device = devices[envelope.device], device.key == key else {
      return counters.unusableReplies += 1
    }
    counters.unreadableEvents += envelope.unreadableEvents
    var reply = envelope.reply
    updateQuestionWindow(of: key, with: reply)
    guard device.isOnline else { return }
    rosters.share(&reply, of: envelope.device.family)
    onReply?(reply, envelope.device)
    switch reply {
    case .attached:
      keep(envelope.pass, of: device)
      if let inbox = envelope.inbox { connections[key]?.subscription.inbox = inbox }
      attachQueue.replied(to: envelope.device, now: clock.now)
      connections[key]?.presence.add(envelope.device, now: clock.moment)
    case .failed(let problem):
      attachQueue.replied(to: envelope.device, now: clock.now)
      // A relay that cannot serve the device at present still counts it as attached.
      if problem.code < Problem.overloaded.code {
        connections[key]?.presence.remove(envelope.device)
      }
    default: break
    }
    let id = envelope.requestID
    perform(device.step(.reply(id, reply), or: .reply(id, reply), clock), for: envelope.device)
  }

  /// Keeps the relay's proof of enrolment for the next attachment, also after a restart.
  private func keep(_ pass: [UInt8], of device: HostedDevice) {
    guard !pass.isEmpty, pass != device.pass else { return }
    device.pass = pass
    waiting.passes.append((device.link.address, pass))
    delayCommit()
  }

  /// Opens and handles the second frame of a broadcast; `nil` for a message with a wrong number of
  /// frames.
  package func received(frame: [UInt8]?, key: [UInt8]) {
    guard let message = frame.flatMap(SealedBroadcast.init(frame:)),
      case let topic = message.topic,
      let first = connections[key]?.firstReader(of: topic),
      let channel = devices[first]?.channels.first(where: { $0.topic == topic }),
      let bytes = ChannelCipher.open(
        message.sealed, topic: topic, key: channel.key.0.bytes + channel.key.1.bytes),
      let broadcast = try? Broadcast.decode(bytes)
    else { return counters.unusableBroadcasts += 1 }
    received(broadcast, topic: topic, key: key)
  }

  /// Handles an opened broadcast.
  package func received(_ broadcast: Broadcast, topic: [UInt8], key: [UInt8]) {
    guard let first = connections[key]?.firstReader(of: topic) else { return }
    var broadcast = broadcast
    rosters.share(&broadcast, of: first.family)
    // A device's own event acknowledges its command.
    if case .event(let event) = broadcast {
      connections[key]?.questionWindow.answered(
        event.command, wasOverloaded: false, now: clock.moment)
    }
    for address in [first] + connections[key]!.furtherReaders(of: topic) {
      guard let device = devices[address], device.isOnline else { continue }
      onBroadcast?(broadcast, address)
      perform(device.step(.broadcast(broadcast), or: .broadcast(broadcast), clock), for: address)
    }
  }
}
