import Glibc

/// Derives from a connecting socket's ``MonitorEvent``s whether the server is reachable and the
/// keys match.
///
/// A pure machine for one endpoint: events in, state out. The table lists the events of libzmq
/// 4.3.4, found by experiment over tcp (the first three rows over ipc too):
///
/// | cause | events |
/// |---|---|
/// | success | connected, handshakeSucceeded |
/// | no listener | closed, connectRetried; without the host or file: connectRetried alone |
/// | wrong *server* key | connected, noDetail(EPIPE or ECONNRESET), disconnected, connectRetried |
/// | server silent, or ZAP status 300 | connected, after handshakeInterval noDetail(EAGAIN), … |
/// | ZAP status 400 or 500 | connected, authentication(status), disconnected, **no retry** |
/// | one side without CURVE | as a wrong server key, or connected, protocolError(mechanism), |
/// | | disconnected, **no retry**: depends on which side detects the error first |
/// | not ZeroMQ | connected, disconnected, **no retry** |
/// | too large a frame from the server | disconnected, **no retry** |
///
/// A wrong server key looks like a server that dies during every handshake. Therefore the key is
/// reported only after ``suspicion`` such handshakes in sequence. A dead server behind a forwarder ends
/// every handshake, too. Therefore a key that was once right is suspected only after
/// ``provenSuspicion``. Without a retry, the socket never reconnects: see ``hasGivenUp(now:)``.
public struct ConnectionHealth: Sendable, Hashable {
  /// The states of a connection.
  public enum State: Sendable, Hashable {
    /// A connect or handshake is under way.
    case connecting
    /// The handshake is complete.
    case connected
    /// The server does not listen or reply, or does not speak ZeroMQ.
    case serverUnreachable
    /// The server replies and refuses. Retries do not help.
    case keyRefused(KeyRefusal)
  }

  /// The key or mechanism that does not match.
  public enum KeyRefusal: Sendable, Hashable {
    /// The server refuses the client's key with this ZAP status, 400 or 500.
    case clientKey(status: Int32)
    /// The server ends every handshake. Its public key is probably another one, or the server does
    /// not use CURVE.
    case serverKey
    /// One side uses CURVE and the other does not, or violates the protocol: libzmq's code.
    case mechanism(code: Int32)
  }

  private enum Phase: Hashable { case down, handshaking, up }

  /// Number of failed handshakes in sequence after which the server's key is suspected.
  public static let suspicion = 3
  /// Time for which all handshakes must fail before a key that was once right is suspected.
  public static let provenSuspicion = Nanoseconds.seconds(60)
  /// Time that libzmq may take from a disconnection to the announcement of a retry.
  public static let retryGrace = Nanoseconds.seconds(1)

  /// The connection's state.
  public private(set) var state = State.connecting
  private var phase = Phase.down
  private var hangUps = 0
  /// When the present sequence of failed handshakes began.
  private var firstHangUp: MonotonicInstant?
  /// Whether a handshake has succeeded.
  private var isProven = false
  private var disconnectedAt: MonotonicInstant?

  /// Creates the state of a socket that has not connected yet.
  public init() {}

  /// Whether libzmq has stopped reconnecting.
  ///
  /// The caller must then `disconnect` and `connect` the endpoint, after a delay and after the
  /// cause is repaired.
  /// - Parameter now: ``MonotonicInstant/now``.
  public func hasGivenUp(now: MonotonicInstant) -> Bool { givesUpAt.map { now >= $0 } ?? false }

  /// The time from which on ``hasGivenUp(now:)`` is true unless a retry is announced before; `nil`
  /// while connected.
  public var givesUpAt: MonotonicInstant? { disconnectedAt.map { $0 + Self.retryGrace } }

  /// Records that the caller has reconnected the endpoint. The state changes with the next events.
  public mutating func didReconnect() { disconnectedAt = nil }

  /// Applies one event.
  /// - Parameter now: ``MonotonicInstant/now`` when the event was received.
  public mutating func step(_ event: MonitorEvent.Kind, now: MonotonicInstant) {
    switch event {
    case .connectDelayed:
      disconnectedAt = nil
    case .connected:
      disconnectedAt = nil
      phase = .handshaking
      if state == .serverUnreachable, hangUps < Self.suspicion { state = .connecting }
    case .handshakeSucceeded:
      phase = .up
      hangUps = 0
      isProven = true
      state = .connected
    case .handshakeFailed(let failure):
      phase = .down
      fail(failure, now)
    case .disconnected:
      disconnectedAt = now
      if phase != .down { state = phase == .up ? .connecting : .serverUnreachable }
      phase = .down
    case .connectRetried:
      // A disconnection has already set the state; without one, the connect itself failed.
      if disconnectedAt == nil { state = .serverUnreachable }
      disconnectedAt = nil
    case .closed:
      state = .serverUnreachable
    case .listening, .bindFailed, .accepted, .acceptFailed, .closeFailed, .stopped, .other:
      break
    }
  }

  private mutating func fail(_ failure: HandshakeFailure, _ now: MonotonicInstant) {
    switch failure {
    case .noDetail(errno: EAGAIN):
      state = .serverUnreachable
    case .noDetail:
      if hangUps == 0 { firstHangUp = now }
      hangUps += 1
      let isEarly = isProven && now < firstHangUp! + Self.provenSuspicion
      if hangUps < Self.suspicion {
        state = .connecting
      } else {
        state = isEarly ? .serverUnreachable : .keyRefused(.serverKey)
      }
    case .authentication(let status):
      state = .keyRefused(.clientKey(status: status))
    case .protocolError(let code):
      state = .keyRefused(.mechanism(code: code))
    }
  }
}
