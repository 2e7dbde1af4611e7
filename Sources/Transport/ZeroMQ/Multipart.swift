import CZeroMQ
import Glibc

/// A received message of several frames. ``Socket/receive(into:)`` fills the same value repeatedly
/// without allocating.
///
/// The frames are libzmq's own, in one block on the heap, so reading them copies nothing.
public struct Multipart: ~Copyable {
  /// The default of `maximumParts`.
  public static let defaultMaximumParts = 16

  /// The most frames that are kept. Further ones are dropped and reported.
  public let maximumParts: Int
  /// The ``ConnectionGuard/epoch`` in which the message was received, if the receiver sets it.
  public var epoch: UInt64 = 0
  /// The CURVE key of a message that was not received from a socket.
  package private(set) var statedKey: [UInt8]?
  /// Number of frames in the message, up to `maximumParts`.
  public internal(set) var count = 0
  let frames: UnsafeMutablePointer<zmq_msg_t>

  /// Allocates one message of at most `maximumParts` frames, 64 bytes each.
  public init(maximumParts: Int = Multipart.defaultMaximumParts) {
    precondition(maximumParts > 0)
    self.maximumParts = maximumParts
    frames = .allocate(capacity: maximumParts)
    for index in 0..<maximumParts { zmq_msg_init(frames + index) }
  }

  /// Creates a message with copies of these parts, as if it had been received.
  package init(_ parts: [[UInt8]], maximumParts: Int, statedKey: [UInt8]? = nil) {
    self.init(maximumParts: maximumParts)
    self.statedKey = statedKey
    for (index, part) in parts.prefix(maximumParts).enumerated() {
      zmq_msg_init_size(frames + index, part.count)
      part.withUnsafeBytes {
        if !$0.isEmpty {
          zmq_msg_data(frames + index).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
        }
      }
    }
    count = min(parts.count, maximumParts)
  }

  deinit {
    for index in 0..<maximumParts { zmq_msg_close(frames + index) }
    frames.deallocate()
  }

  /// Calls `body` with the bytes of one frame, which are valid only during the call.
  @inlinable
  public func withBytes<R, E: Error>(
    _ index: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(rawBytes(index))
  }

  /// A copy of the bytes of one frame.
  public func bytes(_ index: Int) -> [UInt8] {
    [UInt8](rawBytes(index))
  }

  /// Copies of the bytes of all frames.
  public var allBytes: [[UInt8]] {
    (0..<count).map { bytes($0) }
  }

  /// The user id that the ``ZAPHandler`` assigned to the sender; `nil` without CURVE, or for a
  /// message that libzmq made itself.
  ///
  /// The id is read from the last frame, because a ROUTER inserts the first one, the routing id.
  public var userID: String? {
    count == 0 ? nil : (frames + (count - 1)).userID
  }

  /// The file descriptor of the sender's connection, for ``ConnectionGuard``.
  public var descriptor: Int32? {
    guard count > 0 else { return nil }
    let descriptor = zmq_msg_get(frames + (count - 1), ZMQ_SRCFD)
    return descriptor >= 0 ? descriptor : nil
  }

  /// Calls `body` with the bytes of ``userID``; with no bytes if the message has no user id.
  public func withUserID<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard count > 0, let text = zmq_msg_gets(frames + (count - 1), "User-Id") else {
      return body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return body(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }

  /// Moves one frame out without a copy. An empty frame replaces it.
  public mutating func moveOut(_ index: Int) -> Message {
    precondition(index >= 0 && index < count)
    return Message(taking: frames + index)
  }

  /// Releases the frames.
  mutating func clear() {
    for index in 0..<count { Self.empty(frames + index) }
    count = 0
    statedKey = nil
  }

  private static func empty(_ frame: UnsafeMutablePointer<zmq_msg_t>) {
    zmq_msg_close(frame)
    zmq_msg_init(frame)
  }

  @usableFromInline
  func rawBytes(_ index: Int) -> UnsafeRawBufferPointer {
    precondition(index >= 0 && index < count)
    return (frames + index).bytes
  }
}

/// Unchecked because of the pointer. The value is noncopyable, and libzmq allows a frame to move to
/// another thread.
extension Multipart: @unchecked Sendable {}
