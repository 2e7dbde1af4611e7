import CZeroMQ
import Glibc

/// A received message of several frames, made once and filled again and again by
/// ``Socket/receive(into:)``, which allocates nothing of its own.
///
/// The frames are libzmq's own and live in one block on the heap, so reading them copies nothing.
public struct Multipart: ~Copyable {
  /// The default of `maximumParts`.
  public static let defaultMaximumParts = 16

  /// How many frames are kept; further ones are drained and reported.
  public let maximumParts: Int
  /// How many frames the message has, up to `maximumParts`.
  public internal(set) var count = 0
  let frames: UnsafeMutablePointer<zmq_msg_t>

  /// Room for one message of at most `maximumParts` frames, 64 bytes each.
  public init(maximumParts: Int = Multipart.defaultMaximumParts) {
    precondition(maximumParts > 0)
    self.maximumParts = maximumParts
    frames = .allocate(capacity: maximumParts)
    for index in 0..<maximumParts { zmq_msg_init(frames + index) }
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

  /// The user id that the ``ZAPHandler`` gave to the peer that sent this; `nil` without CURVE, or
  /// for a message that libzmq made itself.
  ///
  /// It is read from the last frame: a ROUTER makes up the first, the identity.
  public var userID: String? {
    count == 0 ? nil : (frames + (count - 1)).userID
  }

  /// The file descriptor of the connection over which this came, for ``ConnectionGuard``.
  public var descriptor: Int32? {
    guard count > 0 else { return nil }
    let descriptor = zmq_msg_get(frames + (count - 1), ZMQ_SRCFD)
    return descriptor >= 0 ? descriptor : nil
  }

  /// Calls `body` with the bytes of ``userID``; none, where there is none.
  public func withUserID<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard count > 0, let text = zmq_msg_gets(frames + (count - 1), "User-Id") else {
      return body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return body(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }

  /// Moves one frame out, without a copy, and leaves an empty one.
  public mutating func take(_ index: Int) -> Message {
    precondition(index >= 0 && index < count)
    return Message(taking: frames + index)
  }

  /// Lets the frames go.
  mutating func clear() {
    for index in 0..<count { Self.empty(frames + index) }
    count = 0
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

/// Unchecked for the pointer only: the value has one owner, and libzmq lets a frame go to another thread.
extension Multipart: @unchecked Sendable {}
