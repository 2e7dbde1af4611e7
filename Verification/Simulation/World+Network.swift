import FamilyCore
import FamilyModel
import History
import RelayWire

extension World {
  // MARK: connections

  /// A device that wants to be on line connects to a relay that runs.
  func connect(_ index: Int) {
    let device = devices[index]
    guard relay.isRunning, device.isRunning, device.isOnline, !device.isConnected else { return }
    agenda.plan(.connected(index, connection: device.connection), at: now + dice.within(5...60))
  }

  func connected(_ index: Int, _ connection: Int) {
    let device = devices[index]
    guard device.connection == connection, !device.isConnected, relay.isRunning, device.isRunning,
      device.isOnline
    else { return }
    device.isConnected = true
    // The other socket connects in its own time, and asks for its channels again.
    agenda.plan(.listensAgain(index, connection: connection), at: now + dice.within(0...25))
    deviceInput(index, .connected)
  }

  func listenAgain(_ index: Int, _ connection: Int) {
    guard devices[index].connection == connection else { return }
    devices[index].isListening = true
    for topic in devices[index].topics + devices[index].pried { subscribe(index, topic) }
  }

  /// The connection is gone, and both sides know.
  func disconnect(_ index: Int) {
    let device = devices[index]
    device.connection += 1
    device.isListening = false
    for topic in device.topics { relay.listeners[topic]?.removeAll { $0 == index } }
    for topic in device.pried { relay.listeners[topic]?.removeAll { $0 == index } }
    guard device.isConnected else { return }
    device.isConnected = false
    if device.isRunning { deviceInput(index, .disconnected) }
  }

  func subscribe(_ index: Int, _ topic: [UInt8]) {
    guard devices[index].isListening,
      let at = arrival(index, up: true)
    else { return }
    agenda.plan(
      .subscribe(index, connection: devices[index].connection, topic), at: at)
  }

  func unsubscribe(_ index: Int, _ topic: [UInt8]) {
    relay.listeners[topic]?.removeAll { $0 == index }
  }

  // MARK: messages

  func send(_ envelope: Envelope, from index: Int) {
    guard devices[index].isConnected else { return }
    let decoded = envelope.encode().withUnsafeBytes { try! Envelope.decode($0) }
    for at in arrivals(index, up: true) {
      agenda.plan(
        .request(index, connection: devices[index].connection, decoded), at: at)
    }
  }

  func send(_ envelope: ReplyEnvelope, to index: Int, _ connection: Int) {
    let decoded = envelope.encode().withUnsafeBytes { try! ReplyEnvelope.decode($0) }
    guard index >= 0 else { return administratorReceives(decoded) }
    guard devices[index].connection == connection else { return }
    for at in arrivals(index, up: false) {
      agenda.plan(
        .reply(index, connection: connection, decoded.requestID, decoded.reply.opened()), at: at)
    }
  }

  func publish(_ broadcast: Broadcast, _ topic: [UInt8]) {
    guard let listeners = relay.listeners[topic], !listeners.isEmpty else { return }
    let decoded = try! Broadcast.decode(broadcast.encode()).opened()
    for index in listeners {
      for at in arrivals(index, up: false) {
        agenda.plan(
          .broadcast(
            index, connection: devices[index].connection, topic: topic, decoded), at: at)
      }
    }
  }

  /// When the copies of a message come: usually one copy.
  private func arrivals(_ index: Int, up: Bool) -> [Int64] {
    guard let first = arrival(index, up: up) else { return [] }
    guard devices[index].network.repeatsPercent > 0,
      dice.chance(devices[index].network.repeatsPercent),
      let second = arrival(index, up: up)
    else { return [first] }
    return [first, second]
  }

  /// When a message comes, if it does. In order, unless the link says otherwise.
  private func arrival(_ index: Int, up: Bool) -> Int64? {
    let device = devices[index]
    let link = device.network
    guard !(up ? link.blocksUp : link.blocksDown) else { return nil }
    if link.losesPercent > 0, dice.chance(link.losesPercent) { return nil }
    var at = now + dice.within(1...12) + device.delay
    if link.delay > 0 { at += dice.within(0...link.delay) }
    guard !link.reorders else { return at + dice.within(0...200) }
    if up {
      at = max(at, device.lastUp)
      device.lastUp = at
    } else {
      at = max(at, device.lastDown)
      device.lastDown = at
    }
    return at
  }
}
