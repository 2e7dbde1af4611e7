/// Received messages that wait to be read, in their order, perhaps by another thread than the one that owns
/// the socket. Nothing is copied: messages are swapped in, and room that was made once is used again.
public struct MessageBatch: ~Copyable {
  private var slots: UnsafeMutablePointer<Multipart>
  private var capacity = 16
  /// Slots that were ever used: the others are not initialised.
  private var made = 0
  /// How many messages wait.
  public private(set) var count = 0

  /// A bag with nothing in it.
  public init() { slots = .allocate(capacity: capacity) }

  deinit {
    slots.deinitialize(count: made)
    slots.deallocate()
  }

  /// Takes the message, and leaves an empty one with as much room in its place.
  public mutating func put(_ message: inout Multipart) {
    if count == made {
      if made == capacity { grow() }
      (slots + made).initialize(to: Multipart(maximumParts: message.maximumParts))
      made += 1
    }
    swap(&slots[count], &message)
    count += 1
  }

  /// The message at a place below ``count``.
  public subscript(index: Int) -> Multipart {
    _read {
      precondition(index >= 0 && index < count)
      yield slots[index]
    }
  }

  /// Lets all messages go.
  public mutating func removeAll() {
    for index in 0..<count { slots[index].clear() }
    count = 0
  }

  private mutating func grow() {
    capacity *= 2
    let larger = UnsafeMutablePointer<Multipart>.allocate(capacity: capacity)
    larger.moveInitialize(from: slots, count: made)
    slots.deallocate()
    slots = larger
  }
}

/// Unchecked for the pointer only: the value has one owner, and so has each message in it.
extension MessageBatch: @unchecked Sendable {}
