import FamilyCore
import FamilyModel
import History
import RelayWire

extension World {
  // MARK: connections

  /// Schedules a connection if device and relay run and the device is online.
  func connect(_ index: Int) {
    let device = devices[index]
    guard relay.isRunning, device.isRunning, device.isOnline, !device.isConnected else { return }
    queue.schedule(
      .connected(index, connection: device.connection), at: now + random.milliseconds(5...60))
  }

  func connected(_ index: Int, _ connection: Int) {
    let device = devices[index]
    guard device.connection == connection, !device.isConnected, relay.isRunning, device.isRunning,
      device.isOnline
    else { return }
    device.isConnected = true
    device.connectionTime = now
    // The SUB socket connects separately and subscribes again.
    queue.schedule(
      .resubscribe(index, connection: connection), at: now + random.milliseconds(0...25))
    connectionChanged(true, of: index)
  }

  func resubscribe(_ index: Int, _ connection: Int) {
    guard devices[index].connection == connection else { return }
    devices[index].isListening = true
    for topic in devices[index].topics + devices[index].foreignTopics { subscribe(index, topic) }
  }

  /// Ends the connection on both sides.
  func disconnect(_ index: Int) {
    let device = devices[index]
    device.connection += 1
    device.isListening = false
    unsubscribe(index)
    guard device.isConnected else { return }
    device.isConnected = false
    if device.isRunning { connectionChanged(false, of: index) }
  }

  func subscribe(_ index: Int, _ topic: [UInt8]) {
    guard devices[index].isListening,
      let at = arrival(index, up: true)
    else { return }
    queue.schedule(
      .subscribe(index, connection: devices[index].connection, topic), at: at)
  }

  /// Ends all subscriptions of the device.
  func unsubscribe(_ index: Int) {
    for inbox in devices[index].approved { relay.listeners[inbox]?.removeAll { $0 == index } }
    devices[index].approved = []
  }

  // MARK: messages

  func send(_ envelope: Envelope, from index: Int) {
    guard devices[index].isConnected else { return }
    for at in arrivals(index, up: true) {
      queue.schedule(
        .request(index, connection: devices[index].connection, envelope), at: at)
    }
  }

  func send(_ envelope: ReplyEnvelope, to index: Int, _ connection: Int) {
    guard !isLying else { return lie(envelope, to: index, connection) }
    guard index >= 0 else { return administratorReceives(envelope) }
    guard devices[index].connection == connection else { return }
    var envelope = envelope
    envelope.reply = envelope.reply.opened()
    for at in arrivals(index, up: false) {
      queue.schedule(.reply(index, connection: connection, envelope), at: at)
    }
  }

  func publish(_ broadcast: Broadcast, _ topic: [UInt8], on inbox: Inbox) {
    guard !isLying else { return lie(broadcast, topic, on: inbox) }
    guard let listeners = relay.listeners[inbox], !listeners.isEmpty else { return }
    let opened = broadcast.opened()
    for index in listeners {
      for at in arrivals(index, up: false) {
        queue.schedule(
          .broadcast(
            index, connection: devices[index].connection, topic: topic, opened), at: at)
      }
    }
  }

  /// Arrival times of the copies of a message, usually one.
  private func arrivals(_ index: Int, up: Bool) -> [Milliseconds] {
    guard let first = arrival(index, up: up) else { return [] }
    guard devices[index].network.repeatsPercent > 0,
      random.chance(devices[index].network.repeatsPercent),
      let second = arrival(index, up: up)
    else { return [first] }
    return [first, second]
  }

  /// The arrival time of a message; `nil` if it is lost. Messages stay in order unless the link
  /// reorders.
  private func arrival(_ index: Int, up: Bool) -> Milliseconds? {
    let device = devices[index]
    let link = device.network
    guard !(up ? link.blocksUp : link.blocksDown) else { return nil }
    if link.losesPercent > 0, random.chance(link.losesPercent) { return nil }
    var at = now + random.milliseconds(1...12) + device.delay
    if link.delay > .zero { at += random.within(.zero...link.delay) }
    guard !link.reorders else { return at + random.milliseconds(0...200) }
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
