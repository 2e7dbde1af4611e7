/// Received messages in order, which another thread than the socket's may read.
///
/// Messages are swapped in without a copy, and their memory is reused after ``removeAll()``.
public struct MessageBatch: ~Copyable {
  private var slots: UnsafeMutablePointer<Multipart>
  private var capacity = 16
  /// Number of initialised slots, whether in use or not.
  private var initialisedSlots = 0
  /// Number of messages in the batch.
  public private(set) var count = 0

  /// Creates an empty batch.
  public init() { slots = .allocate(capacity: capacity) }

  deinit {
    slots.deinitialize(count: initialisedSlots)
    slots.deallocate()
  }

  /// Moves the message into the batch. An empty one with the same capacity replaces it.
  public mutating func append(_ message: inout Multipart) {
    if count == initialisedSlots {
      if initialisedSlots == capacity { grow() }
      (slots + initialisedSlots).initialize(to: Multipart(maximumParts: message.maximumParts))
      initialisedSlots += 1
    }
    swap(&slots[count], &message)
    count += 1
  }

  /// The message at an index below ``count``.
  public subscript(index: Int) -> Multipart {
    _read {
      precondition(index >= 0 && index < count)
      yield slots[index]
    }
  }

  /// Removes all messages and keeps their slots.
  public mutating func removeAll() {
    for index in 0..<count { slots[index].clear() }
    count = 0
  }

  private mutating func grow() {
    capacity *= 2
    let larger = UnsafeMutablePointer<Multipart>.allocate(capacity: capacity)
    larger.moveInitialize(from: slots, count: initialisedSlots)
    slots.deallocate()
    slots = larger
  }
}

/// Unchecked because of the pointer. The value is noncopyable, so one thread at a time owns the
/// slots.
extension MessageBatch: @unchecked Sendable {}
