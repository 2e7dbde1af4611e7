import Glibc

/// Tells from a connecting socket's ``MonitorEvent``s whether the server is there and whether the
/// keys fit. A pure machine for one endpoint: events in, state out.
///
/// What libzmq 4.3.4 shows a client (found by experiment over tcp; the first three rows over ipc too):
///
/// | cause | events |
/// |---|---|
/// | all is well | connected, handshakeSucceeded |
/// | nobody listens | closed, connectRetried; without the host or file: connectRetried alone |
/// | wrong *server* key | connected, noDetail(EPIPE or ECONNRESET), disconnected, connectRetried |
/// | server silent, or ZAP says 300 | connected, after handshakeInterval noDetail(EAGAIN), … |
/// | ZAP says 400 or 500 | connected, authentication(status), disconnected, **no retry** |
/// | one side without CURVE | as a wrong server key, or connected, protocolError(mechanism), |
/// | | disconnected, **no retry**: both sides find it out, and it depends on who is first |
/// | no ZeroMQ at all | connected, disconnected, **no retry** |
/// | too large a frame from the server | disconnected, **no retry** |
///
/// A wrong server key looks like a server that dies in the middle of every handshake, so it is
/// reported after ``suspicion`` of them in a row. Without a retry the socket never connects again:
/// see ``hasGivenUp(now:)``.
public struct ConnectionHealth: Sendable, Hashable {
  /// How the connection is.
  public enum State: Sendable, Hashable {
    /// On the way, or on the way again.
    case connecting
    /// The handshake is complete.
    case connected
    /// Nobody listens, nobody answers, or what answers is no ZeroMQ.
    case serverUnreachable
    /// Somebody answers, and waiting will not help.
    case keyRefused(KeyRefusal)
  }

  /// Which key does not fit.
  public enum KeyRefusal: Sendable, Hashable {
    /// The server does not let our key in: its ZAP status, 400 or 500.
    case clientKey(status: Int32)
    /// The server hangs up on our handshakes: its public key is probably another, or it does not
    /// use CURVE.
    case serverKey
    /// One side uses CURVE and the other does not, or breaks the protocol: libzmq's code.
    case mechanism(code: Int32)
  }

  private enum Phase: Hashable { case down, handshaking, up }

  /// How many handshakes in a row the server must end before its key is suspected.
  public static let suspicion = 3
  /// How long libzmq may take from a disconnection to its announcement of a retry, in nanoseconds.
  public static let grace: UInt64 = 1_000_000_000

  /// How the connection is.
  public private(set) var state = State.connecting
  private var phase = Phase.down
  private var hangUps = 0
  private var disconnectedAt: UInt64?

  /// A socket that has not connected yet.
  public init() {}

  /// Whether libzmq has stopped to connect: `disconnect` and `connect` the endpoint again, after a
  /// delay, and after what was refused has been mended.
  /// - Parameter now: ``Monotonic/now()``.
  public func hasGivenUp(now: UInt64) -> Bool { givesUpAt.map { now >= $0 } ?? false }

  /// When ``hasGivenUp(now:)`` becomes true unless a retry is announced before; `nil`: not in sight.
  public var givesUpAt: UInt64? { disconnectedAt.map { $0 + Self.grace } }

  /// Notes that the endpoint was connected again by hand. The state stays until events tell more.
  public mutating func revived() { disconnectedAt = nil }

  /// Takes one event in.
  /// - Parameter now: ``Monotonic/now()``, when it was received.
  public mutating func step(_ event: MonitorEvent.Kind, now: UInt64) {
    switch event {
    case .connectDelayed:
      disconnectedAt = nil
    case .connected:
      disconnectedAt = nil
      phase = .handshaking
      if state == .serverUnreachable { state = .connecting }
    case .handshakeSucceeded:
      phase = .up
      hangUps = 0
      state = .connected
    case .handshakeFailed(let failure):
      phase = .down
      fail(failure)
    case .disconnected:
      disconnectedAt = now
      if phase != .down { state = phase == .up ? .connecting : .serverUnreachable }
      phase = .down
    case .connectRetried:
      // After a disconnection the cause is known already; otherwise the connect itself failed.
      if disconnectedAt == nil { state = .serverUnreachable }
      disconnectedAt = nil
    case .closed:
      state = .serverUnreachable
    case .listening, .bindFailed, .accepted, .acceptFailed, .closeFailed, .stopped, .other:
      break
    }
  }

  private mutating func fail(_ failure: HandshakeFailure) {
    switch failure {
    case .noDetail(errno: EAGAIN):
      state = .serverUnreachable
    case .noDetail:
      hangUps += 1
      state = hangUps >= Self.suspicion ? .keyRefused(.serverKey) : .connecting
    case .authentication(let status):
      state = .keyRefused(.clientKey(status: status))
    case .protocolError(let code):
      state = .keyRefused(.mechanism(code: code))
    }
  }
}
