/// The connections of a ROUTER by routing id, with the bytes that were sent to and read from each one
/// since the last call of ``drain()``.
///
/// Each connection sends its first message before a reply to it is possible, so the table knows every
/// connection that has a queue. The hot path costs one lookup for each message. libzmq numbers
/// connections, so the numbers themselves spread over an open hash table with linear probing.
struct RouteTable {
  /// Bytes of one connection since the last drain.
  struct Moved {
    var descriptor: Int32
    var sent: Int
    var read: Int
  }

  private struct Route {
    var number: UInt32 = 0
    /// The connection's descriptor; -1 in a free slot.
    var descriptor: Int32 = -1
    var sent = 0
    var read = 0

    var isFree: Bool { descriptor < 0 }
  }

  /// Bytes that ZMTP and CURVE add to a received message of an empty frame and a body, at most. Sent
  /// messages count without them. Errors in these directions end when a queue is empty; errors in the
  /// others would add up.
  private static let framingBytes = 80

  /// Slots, a power of two and at least twice the number of routes.
  private var slots = [Route](repeating: Route(), count: 64)
  /// The number of each descriptor's route.
  private var numbers: [Int32: UInt32] = [:]

  private var mask: Int { slots.count - 1 }

  /// The number in a routing id that libzmq made: a zero and four bytes. Peers choose no ids.
  private static func number(_ route: UnsafeRawBufferPointer) -> UInt32? {
    // ROUTER writes the number with the lowest byte last.
    route.count == 5
      ? UInt32(bigEndian: route.loadUnaligned(fromByteOffset: 1, as: UInt32.self)) : nil
  }

  private func slot(of number: UInt32) -> Int? {
    var slot = Int(number) & mask
    while !slots[slot].isFree {
      if slots[slot].number == number { return slot }
      slot = (slot + 1) & mask
    }
    return nil
  }

  private func slot(of route: [UInt8]) -> Int? {
    route.withUnsafeBytes(Self.number).flatMap { slot(of: $0) }
  }

  /// Records a received message.
  ///
  /// - Returns: The descriptor of a connection that is new; otherwise `nil`.
  mutating func read(_ message: borrowing Multipart) -> Int32? {
    guard message.count > 0, let number = message.withBytes(0, Self.number) else { return nil }
    var bytes = Self.framingBytes
    for index in 1..<max(1, message.count) { bytes += message.withBytes(index) { $0.count } }
    if let slot = slot(of: number) {
      slots[slot].read += bytes
      return nil
    }
    guard let descriptor = message.descriptor else { return nil }
    insert(number, descriptor, read: bytes)
    return descriptor
  }

  /// Adds a route. A descriptor has one open connection, so its former route has ended.
  mutating func insert(_ number: UInt32, _ descriptor: Int32, read: Int) {
    remove(descriptor)
    numbers[descriptor] = number
    if numbers.count * 2 > slots.count { grow() }
    place(Route(number: number, descriptor: descriptor, read: read))
  }

  private mutating func place(_ route: Route) {
    var slot = Int(route.number) & mask
    while !slots[slot].isFree { slot = (slot + 1) & mask }
    slots[slot] = route
  }

  private mutating func grow() {
    let former = slots
    slots = [Route](repeating: Route(), count: 2 * former.count)
    for route in former where !route.isFree { place(route) }
  }

  /// Records a sent message.
  mutating func send(_ bytes: Int, to route: [UInt8]) {
    if let slot = slot(of: route) { slots[slot].sent += bytes }
  }

  /// The descriptor of a route's connection; `nil` if unknown.
  func descriptor(of route: [UInt8]) -> Int32? { slot(of: route).map { slots[$0].descriptor } }

  /// The bytes of all connections that moved. Counts from zero then.
  mutating func drain() -> [Moved] {
    var moved: [Moved] = []
    for slot in slots.indices {
      if let next = drain(slot) { moved.append(next) }
    }
    return moved
  }

  /// The bytes of one connection. Counts from zero then.
  mutating func drain(_ route: [UInt8]) -> Moved? { slot(of: route).flatMap { drain($0) } }

  private mutating func drain(_ slot: Int) -> Moved? {
    let route = slots[slot]
    guard route.sent + route.read > 0 else { return nil }
    slots[slot].sent = 0
    slots[slot].read = 0
    return Moved(descriptor: route.descriptor, sent: route.sent, read: route.read)
  }

  /// Forgets an ended connection.
  mutating func remove(_ descriptor: Int32) {
    guard let number = numbers.removeValue(forKey: descriptor), var free = slot(of: number) else {
      return
    }
    slots[free] = Route()
    // Later routes of the same run move up, because a lookup ends at a free slot.
    var slot = (free + 1) & mask
    while !slots[slot].isFree {
      let distance = (slot - Int(slots[slot].number)) & mask
      if distance >= (slot - free) & mask {
        slots.swapAt(free, slot)
        free = slot
      }
      slot = (slot + 1) & mask
    }
  }
}
