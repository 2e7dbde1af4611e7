import FamilyModel
import ZeroMQ

/// The routes and decoded keys of recent senders, because a connection sends many messages.
///
/// Each connection has one slot. Another connection of the same slot replaces the entry.
struct SenderCache: Sendable {
  private struct Entry: Sendable {
    var user: [UInt8]
    var route: [UInt8]
    var key: [UInt8]?
  }

  /// Number of slots. A power of two.
  private static let slotCount = 4_096

  private var entries = [Entry?](repeating: nil, count: Self.slotCount)

  /// The route for replies, and the sender's CURVE key; `nil` if the connection has none.
  mutating func sender(of message: borrowing Multipart) -> (route: [UInt8], key: [UInt8]?) {
    if let key = message.statedKey { return (message.bytes(0), key) }
    return message.withBytes(0) { route in
      message.withUserID { user in
        let slot = Self.slot(of: route)
        if let found = entries[slot], found.route.isSame(as: route), found.user.isSame(as: user) {
          return (found.route, found.key)
        }
        let text = String(decoding: user, as: UTF8.self)
        let entry = Entry(
          user: [UInt8](user), route: [UInt8](route), key: CurvePublicKey(z85: text)?.bytes)
        entries[slot] = entry
        return (entry.route, entry.key)
      }
    }
  }

  private static func slot(of route: UnsafeRawBufferPointer) -> Int {
    // ROUTER numbers its connections: the last bytes differ.
    route.suffix(4).reduce(0) { $0 << 8 | Int($1) } & (slotCount - 1)
  }
}
