import Credentials
import DeviceTurn
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
      self?.assumeIsolated { $0.drainRequestConnection(key) }
    }
    thread.watch(connection.broadcasts.monitorSocket) { [weak self] in
      self?.assumeIsolated { $0.drainBroadcastConnection(key) }
    }
  }

  private func drainRequestConnection(_ key: [UInt8]) {
    guarded {
      for state in try self.connections[key]?.requests.drainChanges() ?? [] {
        self.log(state)
        self.host.connectionChanged(state, of: key)
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
    host.setOnline(isOnline, address)
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
    host.messageArrived(key: key)
    guarded {
      try connection.drainReplies(limit: Self.drainLimit) { bytes in
        self.host.received(bytes.flatMap { try? ReplyEnvelope.decode($0) }, key: key)
      }
    }
  }

  private func drainBroadcasts(_ key: [UInt8]) {
    guard let connection = connections[key] else { return }
    guarded {
      try connection.drainBroadcasts(limit: Self.drainLimit) { frame in
        self.host.received(frame: frame, key: key)
      }
    }
  }
}
