import CZeroMQ
import Glibc

/// A set of sockets and file descriptors to wait for, on one thread. Waiting allocates nothing.
///
/// Every wait asks every socket, which takes about 0.7 µs each (measured): above some hundred
/// sockets, use several threads.
public struct Poller: ~Copyable {
  /// Names one watched socket or file descriptor.
  public struct Token: Hashable, Sendable {
    let number: Int
  }

  /// What the last wait found readable, in the order of watching.
  public internal(set) var ready: [Token] = []
  /// What the last wait took out, because its socket was closed.
  private(set) var dropped: [Token] = []
  private var items: [zmq_pollitem_t] = []
  private var tokens: [Token] = []
  private var handles: [SocketHandle?] = []
  private var lastNumber = 0

  /// An empty set.
  public init() {}

  /// Adds a socket; one that is closed later leaves the set by itself.
  @discardableResult
  public mutating func watch(_ socket: borrowing Socket) -> Token {
    watch(socket.handle)
  }

  /// Adds a file descriptor, which the caller keeps open until ``unwatch(_:)``.
  @discardableResult
  public mutating func watch(fileDescriptor: Int32) -> Token {
    add(zmq_pollitem_t(socket: nil, fd: fileDescriptor, events: Int16(ZMQ_POLLIN), revents: 0), nil)
  }

  mutating func watch(_ handle: SocketHandle) -> Token {
    add(zmq_pollitem_t(socket: handle.raw, fd: -1, events: Int16(ZMQ_POLLIN), revents: 0), handle)
  }

  /// Takes a socket or file descriptor out; an unknown token is ignored.
  public mutating func unwatch(_ token: Token) {
    guard let index = index(of: token) else { return }
    items.remove(at: index)
    tokens.remove(at: index)
    handles.remove(at: index)
  }

  /// Stops and resumes waiting for a socket or file descriptor; an unknown token is ignored.
  public mutating func mute(_ token: Token, _ isMuted: Bool) {
    if let index = index(of: token) { items[index].events = isMuted ? 0 : Int16(ZMQ_POLLIN) }
  }

  private func index(of token: Token) -> Int? {
    // Tokens grow, so the array is sorted: look by halves.
    var low = 0
    var high = tokens.count
    while low < high {
      let middle = (low + high) / 2
      if tokens[middle].number < token.number { low = middle + 1 } else { high = middle }
    }
    return low < tokens.count && tokens[low] == token ? low : nil
  }

  /// Blocks until something is readable or the time is over.
  /// - Parameter milliseconds: how long to wait; 0 only looks, negative is for ever.
  /// - Returns: how many are ``ready``.
  /// - Throws: `terminated` if a socket's context has ended.
  public mutating func wait(milliseconds: Int) throws(ZeroMQError) -> Int {
    ready.removeAll(keepingCapacity: true)
    dropClosed()
    var left = milliseconds
    let start = left > 0 ? Monotonic.now() : 0
    var found = zmq_poll(&items, Int32(items.count), left)
    while found < 0 {
      guard zmq_errno() == EINTR else { throw .last("poll") }
      if left > 0 { left = max(0, milliseconds - Int((Monotonic.now() - start) / 1_000_000)) }
      found = zmq_poll(&items, Int32(items.count), left)
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
