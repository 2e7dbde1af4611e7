public import FamilyModel
import RelayWire
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
    guarded {
      try connection.drainReplies(limit: Self.drainLimit) { bytes in
        guard let bytes, let envelope = try? ReplyEnvelope.decode(bytes),
          let device = self.devices[envelope.device],
          device.key == key
        else { return self.counters.replies += 1 }
        guard device.isOnline else { return }
        var reply = envelope.reply
        self.rosters.share(&reply, of: envelope.device.family)
        self.observer?.received(reply, on: envelope.device)
        switch reply {
        case .attached, .failed: self.attachQueue.remove(envelope.device)
        default: break
        }
        self.perform(device.reply(envelope.requestID, reply, .now), for: envelope.device)
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
        for address in [first] + connection.furtherListeners(topic) {
          guard let device = self.devices[address], device.isOnline else { continue }
          self.observer?.received(broadcast, on: address)
          self.perform(device.broadcast(broadcast, .now), for: address)
        }
      }
    }
  }

  func send(_ id: UInt64, _ request: Request, of address: DeviceAddress) {
    guard let device = devices[address], device.isOnline,
      let connection = connections[device.key]
    else { return }
    let envelope = Envelope(device: address, requestID: id, request: request)
    // Full or not connected: the machine's timers send it again.
    guarded { _ = try connection.requests.socket.send([[], envelope.encode()]) }
  }

  func listen(_ channels: [Channel], anew: Bool, of address: DeviceAddress) {
    guard let device = devices[address],
      let connection = connections[device.key]
    else { return }
    let wanted = channels.compactMap(HostedDevice.Listening.init)
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
