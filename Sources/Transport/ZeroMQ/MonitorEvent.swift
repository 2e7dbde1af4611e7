import CZeroMQ

/// An event of a socket's connections. Events arrive in order of occurrence.
public struct MonitorEvent: Sendable, Hashable {
  /// The kind of event with its details.
  public let kind: Kind
  /// The endpoint of the connection or of the bind. May be a person's address: not for logs.
  public let endpoint: String
  /// The connection's file descriptor, for `accepted`, `disconnected` and `closed`.
  public let descriptor: Int32?

  /// Creates an event, for tests of code that handles events.
  public init(_ kind: Kind, endpoint: String = "", descriptor: Int32? = nil) {
    self.kind = kind
    self.endpoint = endpoint
    self.descriptor = descriptor
  }

  /// The kinds of events. Error numbers are those of `errno`.
  public enum Kind: Sendable, Hashable {
    /// A bind succeeded.
    case listening
    /// A bind failed.
    case bindFailed(errno: Int32)
    /// A connect has begun.
    case connectDelayed
    /// A connect failed; libzmq retries after this time.
    case connectRetried(after: Nanoseconds)
    /// The connect succeeded; the handshake begins.
    case connected
    /// A client has connected; the handshake begins.
    case accepted
    /// A client could not be accepted.
    case acceptFailed(errno: Int32)
    /// A descriptor was closed: after a failed connect, or at an unbind.
    case closed
    /// A descriptor could not be closed.
    case closeFailed(errno: Int32)
    /// The connection ended, before or after the handshake.
    case disconnected
    /// The handshake is complete.
    case handshakeSucceeded
    /// The handshake failed.
    case handshakeFailed(HandshakeFailure)
    /// The socket was closed. The last event.
    case stopped
    /// An event that this version of libzmq does not define.
    case other(UInt16)
  }
}

/// The reason for which a handshake failed.
public enum HandshakeFailure: Sendable, Hashable {
  /// The connection ended during the handshake, or the handshake timed out (`EAGAIN`).
  case noDetail(errno: Int32)
  /// The peer violated the protocol: one of libzmq's `ZMQ_PROTOCOL_ERROR_` codes.
  case protocolError(code: Int32)
  /// The peer's ``ZAPHandler`` refused with status 300, 400 or 500.
  case authentication(status: Int32)
}

extension MonitorEvent.Kind {
  /// Decodes the first frame of a monitor's message: 16 bits of event, 32 bits of value.
  init(event: UInt16, value: Int32) {
    self =
      switch Int32(event) {
      case ZMQ_EVENT_LISTENING: .listening
      case ZMQ_EVENT_BIND_FAILED: .bindFailed(errno: value)
      case ZMQ_EVENT_CONNECT_DELAYED: .connectDelayed
      case ZMQ_EVENT_CONNECT_RETRIED: .connectRetried(after: .milliseconds(value))
      case ZMQ_EVENT_CONNECTED: .connected
      case ZMQ_EVENT_ACCEPTED: .accepted
      case ZMQ_EVENT_ACCEPT_FAILED: .acceptFailed(errno: value)
      case ZMQ_EVENT_CLOSED: .closed
      case ZMQ_EVENT_CLOSE_FAILED: .closeFailed(errno: value)
      case ZMQ_EVENT_DISCONNECTED: .disconnected
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: .handshakeSucceeded
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: .handshakeFailed(.noDetail(errno: value))
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: .handshakeFailed(.protocolError(code: value))
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: .handshakeFailed(.authentication(status: value))
      case ZMQ_EVENT_MONITOR_STOPPED: .stopped
      default: .other(event)
      }
  }
}
