import CZeroMQ
import Glibc

/// A set of sockets and file descriptors that one thread waits for. Waiting allocates nothing.
///
/// Every wait queries every socket, at about 0.7 µs each (measured). Above a few hundred sockets,
/// use several threads.
public struct Poller: ~Copyable {
  /// Identifies one watched socket or file descriptor.
  public struct Token: Hashable, Sendable {
    let number: Int
  }

  /// The readable sockets and descriptors of the last wait, in the order of watching.
  public internal(set) var ready: [Token] = []
  /// The tokens that the last wait removed because their sockets were closed.
  private(set) var dropped: [Token] = []
  private var items: [zmq_pollitem_t] = []
  private var tokens: [Token] = []
  private var handles: [SocketHandle?] = []
  private var lastNumber = 0

  /// Creates an empty set.
  public init() {}

  /// Adds a socket. The next wait removes a socket that was closed.
  @discardableResult
  public mutating func watch(_ socket: borrowing Socket) -> Token {
    watch(socket.handle)
  }

  /// Adds a file descriptor. Precondition: the caller keeps the descriptor open until
  /// ``unwatch(_:)``.
  @discardableResult
  public mutating func watch(fileDescriptor: Int32) -> Token {
    add(zmq_pollitem_t(socket: nil, fd: fileDescriptor, events: Int16(ZMQ_POLLIN), revents: 0), nil)
  }

  mutating func watch(_ handle: SocketHandle) -> Token {
    add(zmq_pollitem_t(socket: handle.raw, fd: -1, events: Int16(ZMQ_POLLIN), revents: 0), handle)
  }

  /// Removes a socket or file descriptor. Unknown tokens are ignored.
  public mutating func unwatch(_ token: Token) {
    guard let index = index(of: token) else { return }
    items.remove(at: index)
    tokens.remove(at: index)
    handles.remove(at: index)
  }

  /// Stops or resumes waiting for a socket or file descriptor. Unknown tokens are ignored.
  public mutating func mute(_ token: Token, _ isMuted: Bool) {
    if let index = index(of: token) { items[index].events = isMuted ? 0 : Int16(ZMQ_POLLIN) }
  }

  private func index(of token: Token) -> Int? {
    // Tokens ascend, so a binary search finds the index.
    var low = 0
    var high = tokens.count
    while low < high {
      let middle = (low + high) / 2
      if tokens[middle].number < token.number { low = middle + 1 } else { high = middle }
    }
    return low < tokens.count && tokens[low] == token ? low : nil
  }

  /// Blocks until a socket or descriptor is readable, or the timeout elapses.
  /// - Parameter timeout: The timeout, rounded up to milliseconds; zero does not block, `nil` waits
  ///   without limit.
  /// - Returns: The number of ``ready`` tokens.
  /// - Throws: `terminated` if a socket's context has ended.
  public mutating func wait(within timeout: Nanoseconds?) throws(ZeroMQError) -> Int {
    ready.removeAll(keepingCapacity: true)
    dropClosed()
    // Rounded up, because waking before a deadline would spin until it.
    var remaining = timeout.map { Int(clamping: $0.millisecondsRoundedUp) } ?? -1
    let start = remaining > 0 ? MonotonicInstant.now : .machineStart
    var found = zmq_poll(&items, Int32(items.count), remaining)
    while found < 0 {
      guard zmq_errno() == EINTR else { throw .last("poll") }
      if remaining > 0 {
        let left = timeout! - (MonotonicInstant.now - start)
        remaining = Int(clamping: left.millisecondsRoundedUp)
      }
      found = zmq_poll(&items, Int32(items.count), remaining)
    }
    for index in items.indices where items[index].revents != 0 {
      ready.append(tokens[index])
      if ready.count == Int(found) { break }
    }
    return ready.count
  }

  private mutating func add(_ item: zmq_pollitem_t, _ handle: SocketHandle?) -> Token {
    lastNumber += 1
    items.append(item)
    tokens.append(Token(number: lastNumber))
    handles.append(handle)
    return Token(number: lastNumber)
  }

  private mutating func dropClosed() {
    dropped.removeAll(keepingCapacity: true)
    guard handles.contains(where: { $0 != nil && $0?.raw == nil }) else { return }
    for index in handles.indices.reversed() where handles[index] != nil {
      guard handles[index]?.raw == nil else { continue }
      dropped.append(tokens[index])
      unwatch(tokens[index])
    }
  }
}

@available(*, unavailable)
extension Poller: Sendable {}
