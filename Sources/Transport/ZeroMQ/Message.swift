import CZeroMQ

/// One frame, owned by libzmq's reference count: a copy is cheap, so one encoded payload can go to
/// many peers.
///
/// Up to 33 bytes live inside the value itself, which moves; hence closures instead of pointers or
/// spans that outlive a borrow.
public struct Message: ~Copyable {
  // The 64 bytes of zmq_msg_t as eight words: the imported type is a tuple of 64, slow to move.
  typealias Storage = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
  private var storage: Storage = (0, 0, 0, 0, 0, 0, 0, 0)

  /// An empty frame.
  public init() {
    withPointer { _ = zmq_msg_init($0) }
  }

  /// A frame with a copy of `bytes`.
  public init(_ bytes: [UInt8]) {
    self.init(size: bytes.count) { target in
      bytes.withUnsafeBytes { target.copyMemory(from: $0) }
    }
  }

  /// A frame that the closure fills in place.
  /// - Parameters:
  ///   - size: how many bytes; traps if there is no memory for them, like an array.
  ///   - fill: is given exactly `size` bytes, uninitialised, and must write them all.
  /// - Throws: what `fill` throws.
  public init<E: Error>(
    size: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void
  ) throws(E) {
    self.init(uninitialisedSize: size)
    // If `fill` throws, `self` is complete, so its deinit frees the frame.
    try withPointer { message throws(E) in
      try fill(UnsafeMutableRawBufferPointer(start: zmq_msg_data(message), count: size))
    }
  }

  private init(uninitialisedSize size: Int) {
    let result = withPointer { zmq_msg_init_size($0, size) }
    precondition(result == 0, "no memory for a frame of \(size) bytes")
  }

  /// Takes over what `source` holds and leaves it empty.
  init(taking source: UnsafeMutablePointer<zmq_msg_t>) {
    self.init()
    withPointer { _ = zmq_msg_move($0, source) }
  }

  deinit {
    // Closing a copy of the 64 bytes is enough: what they point to is what is released.
    var last = storage
    withUnsafeMutableBytes(of: &last) {
      _ = zmq_msg_close($0.baseAddress!.assumingMemoryBound(to: zmq_msg_t.self))
    }
  }

  /// How many bytes the frame has.
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

  /// The user id that the ``ZAPHandler`` gave to the peer that sent this; `nil` without CURVE.
  public var userID: String? { inspect { $0.userID } }

  /// Another reference to the same bytes. `mutating`, because libzmq marks the source as shared.
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

/// A frame belongs to one thread at a time.
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
