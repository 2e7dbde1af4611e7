import CZeroMQ
import Glibc

/// The result of a non-blocking receive.
public enum ReceiveResult: Sendable, Hashable {
  /// A complete message was received.
  case message
  /// No message is queued.
  case nothing
  /// The message has more parts than the receiver's maximum. The first parts were received, so that
  /// the caller can reply to the sender. The others were dropped.
  case tooManyParts
}

extension Socket {
  /// Receives one complete message, if one is queued, and replaces the content of `message`.
  /// - Throws: `closed`, `terminated`, `wrongState`.
  public func receive(into message: inout Multipart) throws(ZeroMQError) -> ReceiveResult {
    let raw = try handle.open("receive")
    message.count = 0
    guard try Self.receive(message.frames, raw) else { return .nothing }
    message.count = 1
    // libzmq delivers a message as a whole, unless its connection ends between two parts. The other
    // parts never arrive then, and the sender retries after it reconnects.
    while zmq_msg_more(message.frames + (message.count - 1)) != 0 {
      guard message.count < message.maximumParts else {
        try drain(raw)
        return .tooManyParts
      }
      guard try Self.receive(message.frames + message.count, raw) else {
        message.count = 0
        return .nothing
      }
      message.count += 1
    }
    return .message
  }

  /// Receives one complete message, if one is queued. For small clients and tests; a service reuses
  /// one ``Multipart``.
  /// - Throws: `tooManyParts`, `closed`, `terminated`, `wrongState`.
  public func receive(
    maximumParts: Int = Multipart.defaultMaximumParts
  ) throws(ZeroMQError) -> Multipart? {
    var message = Multipart(maximumParts: maximumParts)
    switch try receive(into: &message) {
    case .message: return message
    case .nothing: return nil
    case .tooManyParts: throw ZeroMQError(.tooManyParts, "receive")
    }
  }

  private func drain(_ raw: UnsafeMutableRawPointer) throws(ZeroMQError) {
    var dropped = Message()
    while try dropped.withPointer({ message throws(ZeroMQError) in
      try Self.receive(message, raw) && zmq_msg_more(message) != 0
    }) {}
  }

  private static func receive(
    _ frame: UnsafeMutablePointer<zmq_msg_t>, _ raw: UnsafeMutableRawPointer
  ) throws(ZeroMQError) -> Bool {
    while true {
      if zmq_msg_recv(frame, raw, ZMQ_DONTWAIT) >= 0 { return true }
      switch zmq_errno() {
      case EAGAIN: return false
      case EINTR: continue
      default: throw .last("receive")
      }
    }
  }
}
