import CZeroMQ
import Glibc

/// The failure of an operation on a socket, a context or a key.
///
/// The error contains no endpoint, routing id or byte of a message, so it may be logged.
public struct ZeroMQError: Error, Hashable, Sendable {
  /// The kind of failure, for programs.
  public let code: Code
  /// The name of the operation that failed, such as `bind`.
  public let operation: String
  /// The C library's error number; 0 if the failure was found before the call to libzmq.
  public let number: Int32

  init(_ code: Code, _ operation: String, number: Int32 = 0) {
    self.code = code
    self.operation = operation
    self.number = number
  }

  /// The error of the last libzmq call, from `errno`.
  static func last(_ operation: String) -> ZeroMQError {
    let number = zmq_errno()
    return ZeroMQError(Code(errno: number), operation, number: number)
  }
}

extension ZeroMQError {
  /// The kinds of failures. A private enum inside allows new codes without breaking a `switch`.
  public struct Code: Hashable, Sendable {
    fileprivate enum Base: String {
      case addressInUse, addressUnavailable, accessDenied, invalidArgument, terminated, closed
      case tooManySockets, tooManyParts, wrongState, other
    }

    fileprivate let base: Base

    /// Another socket is bound to the endpoint.
    public static let addressInUse = Code(base: .addressInUse)
    /// The endpoint's host, interface or directory does not exist here.
    public static let addressUnavailable = Code(base: .addressUnavailable)
    /// The operating system denies this user access to the endpoint.
    public static let accessDenied = Code(base: .accessDenied)
    /// An endpoint, an option or a key is malformed.
    public static let invalidArgument = Code(base: .invalidArgument)
    /// The context was terminated.
    public static let terminated = Code(base: .terminated)
    /// The socket was closed, for example because its thread stopped.
    public static let closed = Code(base: .closed)
    /// The limit of sockets (context) or file descriptors (process) is reached.
    public static let tooManySockets = Code(base: .tooManySockets)
    /// A message has more parts than the receiver accepts.
    public static let tooManyParts = Code(base: .tooManyParts)
    /// The operation is not possible in the socket's state, such as a REP that sends first.
    public static let wrongState = Code(base: .wrongState)
    /// Any other error: see ``ZeroMQError/number``.
    public static let other = Code(base: .other)

    init(errno number: Int32) {
      self =
        switch number {
        case EADDRINUSE: .addressInUse
        case EADDRNOTAVAIL, ENODEV, ENOENT: .addressUnavailable
        case EACCES, EPERM: .accessDenied
        case EINVAL, EPROTONOSUPPORT, ENOCOMPATPROTO, ENAMETOOLONG: .invalidArgument
        case ETERM: .terminated
        case ENOTSOCK: .closed
        case EMFILE, ENFILE: .tooManySockets
        case EFSM: .wrongState
        default: .other
        }
    }

    fileprivate init(base: Base) {
      self.base = base
    }
  }
}

extension ZeroMQError: CustomStringConvertible {
  /// One line with the operation, the system's text and the remedy.
  public var description: String {
    let reason = number == 0 ? code.base.rawValue : String(cString: zmq_strerror(number))
    return "\(operation) failed: \(reason) (\(number)). \(advice)"
  }

  /// The remedy, for people.
  public var advice: String {
    switch code.base {
    case .addressInUse: "Choose another endpoint, or stop the process that is bound to it."
    case .addressUnavailable: "Check the endpoint's host, interface or directory."
    case .accessDenied: "Check the permissions of the endpoint's port or directory."
    case .invalidArgument: "Check the form of the endpoint, option or key."
    case .terminated, .closed: "Make a new context and new sockets."
    case .tooManySockets: "Raise the context's maximumSockets and the limit of open files."
    case .tooManyParts: "Drop the message; its sender does not follow the protocol."
    case .wrongState: "Receive before sending on REP, send before receiving on REQ."
    case .other: "See the error number."
    }
  }
}
