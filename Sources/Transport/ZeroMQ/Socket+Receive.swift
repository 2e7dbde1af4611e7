import CZeroMQ
import Glibc

/// What a non-blocking receive found.
public enum ReceiveResult: Sendable, Hashable {
  /// A whole message.
  case message
  /// No message is waiting.
  case nothing
  /// A message with more parts than the receiver has room for: the first ones are there, so that
  /// its sender can be told, the others are dropped.
  case tooManyParts
}

extension Socket {
  /// Receives one whole message, if one is waiting, in the place of what `message` held.
  /// - Throws: `closed`, `terminated`, `wrongState`.
  public func receive(into message: inout Multipart) throws(ZeroMQError) -> ReceiveResult {
    let raw = try handle.open("receive")
    message.count = 0
    guard try Self.receive(message.frames, raw) else { return .nothing }
    message.count = 1
    // The other parts are there already: libzmq delivers a message as a whole, unless its connection ends
    // between two parts. Then the rest never comes, and who sent it sends it again.
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

  /// Receives one whole message, if one is waiting. For small clients and tests; a service fills
  /// one ``Multipart`` again and again.
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
