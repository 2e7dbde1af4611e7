import CZeroMQ

/// One frame, owned by libzmq's reference count. Copies are cheap, so one payload can be sent to
/// many peers.
///
/// Up to 33 bytes are stored inside the value, which moves. Therefore bytes are accessible only
/// within closures.
public struct Message: ~Copyable {
  // The 64 bytes of zmq_msg_t as eight words. The imported type is a tuple of 64 bytes, which is
  // slow to move.
  typealias Storage = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
  private var storage: Storage = (0, 0, 0, 0, 0, 0, 0, 0)

  /// Creates an empty frame.
  public init() {
    withPointer { _ = zmq_msg_init($0) }
  }

  /// Creates a frame with a copy of `bytes`.
  public init(_ bytes: [UInt8]) {
    self.init(size: bytes.count) { target in
      bytes.withUnsafeBytes { target.copyMemory(from: $0) }
    }
  }

  /// Creates a frame that the closure fills in place.
  /// - Parameter size: Number of bytes. Traps if there is no memory for them, as an array does.
  /// - Parameter fill: Writes all of the `size` uninitialised bytes.
  /// - Throws: The error of `fill`.
  public init<E: Error>(
    size: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void
  ) throws(E) {
    self.init(uninitialisedSize: size)
    // If `fill` throws, `self` is already initialised, so its deinit frees the frame.
    try withPointer { message throws(E) in
      try fill(UnsafeMutableRawBufferPointer(start: zmq_msg_data(message), count: size))
    }
  }

  private init(uninitialisedSize size: Int) {
    let result = withPointer { zmq_msg_init_size($0, size) }
    precondition(result == 0, "no memory for a frame of \(size) bytes")
  }

  /// Moves the frame out of `source`, which is empty afterwards.
  init(taking source: UnsafeMutablePointer<zmq_msg_t>) {
    self.init()
    withPointer { _ = zmq_msg_move($0, source) }
  }

  deinit {
    // Closing a copy of the 64 bytes releases the memory that they point to.
    var last = storage
    withUnsafeMutableBytes(of: &last) {
      _ = zmq_msg_close($0.baseAddress!.assumingMemoryBound(to: zmq_msg_t.self))
    }
  }

  /// The frame's size in bytes.
  public var count: Int { withBytes { $0.count } }

  /// Calls `body` with the bytes, which are valid only during the call.
  public func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafePointer(to: storage) { pointer throws(E) in
      let message = UnsafeMutableRawPointer(mutating: pointer).assumingMemoryBound(
        to: zmq_msg_t.self)
      return try body(message.bytes)
    }
  }

  /// A copy of the bytes.
  public var bytes: [UInt8] { withBytes { [UInt8]($0) } }

  /// Whether more frames of the same message follow.
  public var more: Bool { inspect { zmq_msg_more($0) != 0 } }

  /// The user id that the ``ZAPHandler`` assigned to the sender; `nil` without CURVE.
  public var userID: String? { inspect { $0.userID } }

  /// Returns a second reference to the same bytes. Mutating, because libzmq marks the source as
  /// shared.
  public mutating func copy() -> Message {
    var copy = Message()
    withPointer { source in copy.withPointer { _ = zmq_msg_copy($0, source) } }
    return copy
  }

  mutating func withPointer<R, E: Error>(
    _ body: (UnsafeMutablePointer<zmq_msg_t>) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeMutablePointer(to: &storage) { pointer throws(E) in
      try body(UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: zmq_msg_t.self))
    }
  }

  private func inspect<R>(_ body: (UnsafeMutablePointer<zmq_msg_t>) -> R) -> R {
    withUnsafePointer(to: storage) {
      body(UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: zmq_msg_t.self))
    }
  }
}

/// One thread at a time owns a frame.
@available(*, unavailable)
extension Message: Sendable {}

extension UnsafeMutablePointer<zmq_msg_t> {
  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: zmq_msg_data(self), count: zmq_msg_size(self))
  }

  var userID: String? {
    zmq_msg_gets(self, "User-Id").map { String(cString: $0) }
  }
}
