import CZeroMQ
import Glibc

/// The result of a non-blocking send.
public enum SendResult: Sendable, Hashable {
  /// libzmq has queued the message. Its arrival is not guaranteed.
  case sent
  /// The peer's queue is full, or no peer is connected. Nothing of the message was sent.
  case full
  /// ROUTER: no connected peer has the routing id. Nothing of the message was sent.
  case unreachable
}

extension Socket {
  /// Sends one message of copied parts without blocking.
  /// - Throws: `closed`, `terminated`, `wrongState`.
  public func send(_ parts: [[UInt8]]) throws(ZeroMQError) -> SendResult {
    for index in parts.indices {
      let more = index < parts.count - 1
      let result = try sendPart(parts[index], more: more)
      if result != .sent { return result }
    }
    return .sent
  }

  /// Sends one message of copied parts and a moved payload without blocking.
  ///
  /// Pass a ``Message/copy()`` to send one payload to many peers.
  /// - Throws: `closed`, `terminated`, `wrongState`.
  public func send(
    _ parts: [[UInt8]], _ payload: consuming Message
  ) throws(ZeroMQError) -> SendResult {
    for part in parts {
      let result = try sendPart(part, more: true)
      if result != .sent { return result }
    }
    var payload = payload
    let raw = try handle.open("send")
    return try payload.withPointer { message throws(ZeroMQError) in
      try Self.result { zmq_msg_send(message, raw, ZMQ_DONTWAIT) }
    }
  }

  /// Forwards a received message without blocking and without copying its bytes.
  /// - Throws: `closed`, `terminated`, `wrongState`.
  public func send(_ message: borrowing Multipart) throws(ZeroMQError) -> SendResult {
    let raw = try handle.open("send")
    for index in 0..<message.count {
      var copy = Message()
      let frame = message.frames + index
      let flags = index < message.count - 1 ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
      let result = try copy.withPointer { copy throws(ZeroMQError) in
        zmq_msg_copy(copy, frame)
        return try Self.result { zmq_msg_send(copy, raw, flags) }
      }
      if result != .sent { return result }
    }
    return .sent
  }

  /// Sends one copied part without blocking.
  ///
  /// If the result is not `sent`, libzmq has rolled back the message's earlier parts; a retry
  /// starts with the first part.
  /// - Parameter more: Whether further parts of the same message follow.
  /// - Throws: `closed`, `terminated`, `wrongState`.
  public func sendPart(_ bytes: [UInt8], more: Bool) throws(ZeroMQError) -> SendResult {
    let raw = try handle.open("send")
    let flags = more ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
    return try Self.result {
      bytes.withUnsafeBytes { zmq_send(raw, $0.baseAddress, $0.count, flags) }
    }
  }

  private static func result(_ send: () -> Int32) throws(ZeroMQError) -> SendResult {
    while true {
      if send() >= 0 { return .sent }
      switch zmq_errno() {
      case EAGAIN: return .full
      case EHOSTUNREACH: return .unreachable
      case EINTR: continue
      default: throw .last("send")
      }
    }
  }
}
