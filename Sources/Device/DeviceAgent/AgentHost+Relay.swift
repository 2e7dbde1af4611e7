import Credentials
public import FamilyModel
import RelayWire
import SystemClock
import ZeroMQ

extension AgentHost {
  /// Connects a key to the relay.
  func connect(_ credential: Credential) throws {
    let key = credential.keys.publicKey.bytes
    let connection = try RelayConnection(credential, in: context)
    connections[key] = connection
    thread.watch(connection.requests.socket) { [weak self] in
      self?.assumeIsolated { $0.drainReplies(key) }
    }
    thread.watch(connection.broadcasts.socket) { [weak self] in
      self?.assumeIsolated { $0.drainBroadcasts(key) }
    }
    thread.watch(connection.requests.monitorSocket) { [weak self] in
      self?.assumeIsolated { $0.noteRequests(key) }
    }
    thread.watch(connection.broadcasts.monitorSocket) { [weak self] in
      self?.assumeIsolated { $0.noteBroadcasts(key) }
    }
  }

  private func noteRequests(_ key: [UInt8]) {
    guarded {
      for state in try self.connections[key]?.requests.changes() ?? [] {
        self.log(state)
        self.connections[key]?.questionWindow.restart()
        for address in self.devices.keys.sorted() {
          guard let device = self.devices[address],
            device.key == key, device.isInFamily,
            device.connection != state
          else { continue }
          self.note(state, of: device)
        }
      }
    }
  }

  private func note(_ state: ConnectionHealth.State, of device: HostedDevice) {
    let wasConnected = device.isReachable
    device.connection = state
    noteReachable(device, before: wasConnected)
  }

  private func noteReachable(_ device: HostedDevice, before: Bool) {
    statusIsStale = true
    if device.isReachable, !before {
      attachQueue.add(device.link.address)
    } else if before, !device.isReachable {
      attachQueue.remove(device.link.address)
      connection(of: device)?.presence.remove(device.link.address)
      perform(device.disconnected(.now), for: device.link.address)
    }
  }

  /// Takes one device off the network, as a flight mode does, or puts it back. It stays so until the
  /// process ends.
  public func setOnline(_ isOnline: Bool, _ address: DeviceAddress) {
    guard let device = devices[address], device.isOnline != isOnline else { return }
    let before = device.isReachable
    device.isOnline = isOnline
    noteReachable(device, before: before)
  }

  /// What is missed meanwhile is fetched; libzmq subscribes again by itself.
  private func noteBroadcasts(_ key: [UInt8]) {
    guarded { _ = try self.connections[key]?.broadcasts.changes() }
  }

  private func log(_ state: ConnectionHealth.State) {
    switch state {
    case .connected: logger.notice("connected to the relay")
    case .connecting: logger.info("connecting to the relay")
    case .serverUnreachable: logger.notice("no relay answers; trying again")
    case .keyRefused(.serverKey):
      logger.error("what answers is not the relay of the credential: run `relayctl apply` again")
    case .keyRefused(let refusal):
      logger.error("the relay refuses this key: \(refusal)")
    }
  }

  private func drainReplies(_ key: [UInt8]) {
    guard let connection = connections[key] else { return }
    connection.presence.heard()
    guarded {
      try connection.drainReplies(limit: Self.drainLimit) { bytes in
        guard let bytes, let envelope = try? ReplyEnvelope.decode(bytes),
          let device = self.devices[envelope.device],
          device.key == key
        else { return self.counters.replies += 1 }
        var reply = envelope.reply
        self.settle(reply, on: connection)
        guard device.isOnline else { return }
        self.rosters.share(&reply, of: envelope.device.family)
        self.observer?.received(reply, on: envelope.device)
        switch reply {
        case .attached:
          self.attachQueue.answered(envelope.device, now: .now)
          connection.presence.add(envelope.device, Monotonic.now())
        case .failed:
          self.attachQueue.answered(envelope.device, now: .now)
          connection.presence.remove(envelope.device)
        default: break
        }
        self.perform(device.reply(envelope.requestID, reply, now: .now), for: envelope.device)
      }
    }
  }

  private func drainBroadcasts(_ key: [UInt8]) {
    guard let connection = connections[key] else { return }
    guarded {
      try connection.drainBroadcasts(limit: Self.drainLimit) { message in
        guard let (topic, sealed) = message,
          let first = connection.listener(topic),
          let channel = self.devices[first]?.channels.first(where: { $0.topic == topic }),
          let bytes = ChannelCipher.open(
            sealed, topic: topic, key: channel.key.0.bytes + channel.key.1.bytes),
          var broadcast = try? Broadcast.decode(bytes)
        else { return self.counters.broadcasts += 1 }
        self.rosters.share(&broadcast, of: first.family)
        // A device's own event is an answer to its command, too.
        if case .event(let event) = broadcast {
          connection.questionWindow.answered(event.command, wasOverloaded: false, Monotonic.now())
        }
        for address in [first] + connection.furtherListeners(topic) {
          guard let device = self.devices[address], device.isOnline else { continue }
          self.observer?.received(broadcast, on: address)
          self.perform(device.broadcast(broadcast, now: .now), for: address)
        }
      }
    }
  }

  private func connection(of device: HostedDevice) -> RelayConnection? {
    connections[device.key]
  }

  /// Tells the relay who is there, where it is time to; where the relay is silent, all attach anew.
  func speakForAll() {
    let now = Monotonic.now()
    for connection in connections.values
    where connection.presence.deadline.map({ $0 <= now }) ?? false {
      for address in connection.presence.takeLost(now) {
        guard let device = devices[address] else { continue }
        perform(device.disconnected(.now), for: address)
        attachQueue.add(address)
      }
      let turn = connection.presence.speak(now)
      guard let first = turn.first else { continue }
      send(0, .present(Array(turn.dropFirst())), of: first)
    }
  }

  func send(_ id: UInt64, _ request: Request, of address: DeviceAddress) {
    guard let device = devices[address], device.isOnline, let connection = connection(of: device)
    else { return }
    // The machine's timer brings again what is not sent now.
    if case .command(let command, _, _) = request,
      !connection.questionWindow.maySend(command, Monotonic.now())
    {
      return
    }
    if case .attach(let cursors) = request,
      !attachQueue.mayAttach(address, from: cursors, now: .now)
    {
      return
    }
    let envelope = Envelope(device: address, requestID: id, request: request)
    // Full or not connected: the machine's timers send it again.
    guarded { _ = try connection.requests.socket.send([[], envelope.encode()]) }
  }

  /// The answer to a command makes room for a question that waits.
  private func settle(_ reply: Reply, on connection: RelayConnection) {
    let now = Monotonic.now()
    switch reply {
    case .accepted(let id, _): connection.questionWindow.answered(id, wasOverloaded: false, now)
    case .refused(let id, let problem):
      connection.questionWindow.answered(
        id, wasOverloaded: problem.code == Problem.overloaded.code, now)
    case .page(_, let events, _):
      for event in events {
        connection.questionWindow.answered(event.command, wasOverloaded: false, now)
      }
    default: break
    }
  }

  /// Enqueues a question of the device until its connection's question window admits it.
  func enqueue(_ question: CommandID, of address: DeviceAddress) {
    guard let device = devices[address], device.isReachable else { return }
    connection(of: device)?.questionWindow.enqueue(question, address)
  }

  /// Whether a connection's question window admits another question.
  var hasQuestions: Bool { connections.values.contains { $0.questionWindow.canAdmit } }

  /// Admits up to `room` questions, one of each connection in turn, and reduces `room` by their number.
  func admit(_ room: inout Int) {
    var isAnyLeft = true
    while room > 0, isAnyLeft {
      isAnyLeft = false
      for connection in connections.values where room > 0 {
        guard let (question, address) = connection.questionWindow.admit(Monotonic.now()) else {
          continue
        }
        isAnyLeft = true
        room -= 1
        let wanted = devices[address]?.child?.step(.admitted(question), now: .now) ?? []
        let goes = wanted.contains { if case .send = $0 { true } else { false } }
        if !goes { connection.questionWindow.release(question) }
        perform(wanted, for: address)
      }
    }
  }

  func listen(_ channels: [Channel], anew: Bool, of address: DeviceAddress) {
    guard let device = devices[address], let connection = connection(of: device) else { return }
    var wanted = channels.compactMap(HostedDevice.Listening.init)
    for index in wanted.indices {
      // The connection knows the topic already: one copy of it is enough.
      let known = device.channels.first { $0.topic == wanted[index].topic }
      if let known { wanted[index].topic = known.topic }
    }
    guarded {
      for old in device.channels where !wanted.contains(where: { $0.topic == old.topic }) {
        try connection.stopListening(old.topic, address)
      }
      for new in wanted {
        if !device.channels.contains(where: { $0.topic == new.topic }) {
          try connection.listen(new.topic, address)
        } else if anew {
          try connection.listenAnew(new.topic)
        }
      }
    }
    device.channels = wanted
  }
}
