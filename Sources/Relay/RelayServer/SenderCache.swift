import FamilyModel
import ZeroMQ

/// Who sent a message: the bytes that name its connection, and its proven key. What was read of the last
/// messages is kept, since a connection sends many.
struct SenderCache: Sendable {
  private struct Known {
    var user: [UInt8]
    var route: [UInt8]
    var key: [UInt8]?
  }

  /// Connections that are remembered; a power of two.
  private static let count = 4_096

  private var known = [Known?](repeating: nil, count: Self.count)

  /// The route for replies, and the key; `nil`: there is no CURVE key.
  mutating func sender(of message: borrowing Multipart) -> (route: [UInt8], key: [UInt8]?) {
    message.withBytes(0) { route in
      message.withUserID { user in
        let place = Self.place(route)
        if let found = known[place], found.route.isSame(as: route), found.user.isSame(as: user) {
          return (found.route, found.key)
        }
        let text = String(decoding: user, as: UTF8.self)
        let new = Known(
          user: [UInt8](user), route: [UInt8](route), key: CurvePublicKey(z85: text)?.bytes)
        known[place] = new
        return (new.route, new.key)
      }
    }
  }

  private static func place(_ route: UnsafeRawBufferPointer) -> Int {
    // ROUTER numbers its connections: the last bytes tell them apart.
    route.suffix(4).reduce(0) { $0 << 8 | Int($1) } & (count - 1)
  }
}
