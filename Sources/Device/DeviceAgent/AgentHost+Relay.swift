import Credentials
public import FamilyModel
import RelayStore
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
      self?.assumeIsolated { $0.drainRequestConnection(key) }
    }
    thread.watch(connection.broadcasts.monitorSocket) { [weak self] in
      self?.assumeIsolated { $0.drainBroadcastConnection(key) }
    }
  }

  // MARK: Connection

  func connection(of device: HostedDevice) -> RelayConnection? { connections[device.key] }

  private func drainRequestConnection(_ key: [UInt8]) {
    guarded {
      for state in try self.connections[key]?.requests.drainChanges() ?? [] {
        self.log(state)
        self.connections[key]?.questionWindow.restart()
        for address in self.devices.keys.sorted() {
          guard let device = self.devices[address], device.key == key, device.isInFamily,
            device.connection != state
          else { continue }
          self.update(device) { $0.connection = state }
        }
      }
    }
  }

  /// The state of the broadcast connection needs no reaction: devices fetch missed events, and
  /// libzmq subscribes again after a reconnect.
  private func drainBroadcastConnection(_ key: [UInt8]) {
    guarded { _ = try self.connections[key]?.broadcasts.drainChanges() }
  }

  /// Connects one device to the network or disconnects it, as airplane mode does. Lasts until the
  /// process ends.
  public func setOnline(_ isOnline: Bool, _ address: DeviceAddress) {
    guard let device = devices[address], device.isOnline != isOnline else { return }
    update(device) { $0.isOnline = isOnline }
  }

  /// Changes the device's connectivity, and attaches or disconnects the device if its reachability
  /// changes.
  private func update(_ device: HostedDevice, _ change: (HostedDevice) -> Void) {
    let wasReachable = device.isReachable
    change(device)
    isStatusStale = true
    if device.isReachable, !wasReachable {
      attachQueue.enqueue(device.link.address)
    } else if wasReachable, !device.isReachable {
      attachQueue.remove(device.link.address)
      connection(of: device)?.presence.remove(device.link.address)
      perform(device.disconnected(.now), for: device.link.address)
    }
  }

  private func log(_ state: ConnectionHealth.State) {
    switch state {
    case .connected: logger.notice("connected to the relay")
    case .connecting: logger.info("connecting to the relay")
    case .serverUnreachable: logger.notice("the relay does not answer; retrying")
    case .keyRefused(.serverKey):
      logger.error("the server is not the relay of the credential; run `relayctl apply` again")
    case .keyRefused(let refusal):
      logger.error("the relay refuses this key: \(refusal)")
    }
  }

  // MARK: Messages

  private func drainReplies(_ key: [UInt8]) {
    guard let connection = connections[key] else { return }
    connection.presence.messageArrived()
    guarded {
      try connection.drainReplies(limit: Self.drainLimit) { bytes in
        guard let bytes, let envelope = try? ReplyEnvelope.decode(bytes),
          let device = self.devices[envelope.device], device.key == key
        else { return self.counters.unusableReplies += 1 }
        var reply = envelope.reply
        self.updateQuestionWindow(of: connection, with: reply)
        guard device.isOnline else { return }
        self.rosters.share(&reply, of: envelope.device.family)
        self.observer?.received(reply, on: envelope.device)
        switch reply {
        case .attached:
          self.keep(envelope.pass, of: device)
          self.attachQueue.replied(to: envelope.device, now: .now)
          connection.presence.add(envelope.device, now: MonotonicInstant.now)
        case .failed:
          self.attachQueue.replied(to: envelope.device, now: .now)
          connection.presence.remove(envelope.device)
        default: break
        }
        self.perform(device.reply(envelope.requestID, reply, now: .now), for: envelope.device)
      }
    }
  }

  /// Keeps the relay's proof of enrolment for the next attachment, also after a restart.
  private func keep(_ pass: [UInt8], of device: HostedDevice) {
    guard !pass.isEmpty, pass != device.pass else { return }
    device.pass = pass
    changes.append(Change(key: device.link.address.passKey, value: pass))
    changesDue = changesDue ?? MonotonicInstant.now + Self.commitDelay
  }

  private func drainBroadcasts(_ key: [UInt8]) {
    guard let connection = connections[key] else { return }
    guarded {
      try connection.drainBroadcasts(limit: Self.drainLimit) { message in
        guard let (topic, sealed) = message,
          let first = connection.firstSubscriber(of: topic),
          let channel = self.devices[first]?.channels.first(where: { $0.topic == topic }),
          let bytes = ChannelCipher.open(
            sealed, topic: topic, key: channel.key.0.bytes + channel.key.1.bytes),
          var broadcast = try? Broadcast.decode(bytes)
        else { return self.counters.unusableBroadcasts += 1 }
        self.rosters.share(&broadcast, of: first.family)
        // A device's own event acknowledges its command.
        if case .event(let event) = broadcast {
          connection.questionWindow.answered(
            event.command, wasOverloaded: false, now: MonotonicInstant.now)
        }
        for address in [first] + connection.furtherSubscribers(of: topic) {
          guard let device = self.devices[address], device.isOnline else { continue }
          self.observer?.received(broadcast, on: address)
          self.perform(device.broadcast(broadcast, now: .now), for: address)
        }
      }
    }
  }

  /// Sends a request of the device. Drops the request if it must wait or the socket is full: the
  /// machine's timer retries.
  func send(_ id: UInt64, _ request: Request, of address: DeviceAddress) {
    guard let device = devices[address], device.isOnline, let connection = connection(of: device)
    else { return }
    if case .command(let command, _, _) = request,
      !connection.questionWindow.maySend(command, now: MonotonicInstant.now)
    {
      return
    }
    if case .attach(let cursors) = request,
      !attachQueue.mayAttach(address, from: cursors, now: .now)
    {
      return
    }
    var envelope = Envelope(device: address, requestID: id, request: request)
    if case .attach = request { envelope.pass = device.pass }
    guarded { _ = try connection.requests.socket.send([[], envelope.encode()]) }
  }

  /// Subscribes the device to exactly these channels.
  ///
  /// - Parameter resubscribes: Whether to repeat the current subscriptions, because broadcasts were
  ///   lost.
  func listen(_ channels: [Channel], resubscribes: Bool, of address: DeviceAddress) {
    guard let device = devices[address], let connection = connection(of: device) else { return }
    var wanted = channels.compactMap(HostedDevice.SubscribedChannel.init)
    for index in wanted.indices {
      // The device shares the topic's memory with the connection, which knows the topic already.
      let known = device.channels.first { $0.topic == wanted[index].topic }
      if let known { wanted[index].topic = known.topic }
    }
    guarded {
      for old in device.channels where !wanted.contains(where: { $0.topic == old.topic }) {
        try connection.unsubscribe(address, from: old.topic)
      }
      for new in wanted {
        if !device.channels.contains(where: { $0.topic == new.topic }) {
          try connection.subscribe(address, to: new.topic)
        } else if resubscribes {
          try connection.resubscribe(to: new.topic)
        }
      }
    }
    device.channels = wanted
  }
}
