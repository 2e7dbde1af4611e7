/// The set of devices that may read an event. Each audience has its own channel and its own chain
/// of events.
public struct Audience: Hashable, Comparable, Sendable {
  /// The kind in the upper 32 bits (0 family, 1 conversation, 2 account), the person in the lower
  /// 32.
  public var rawValue: UInt64
  /// Creates an audience from its number on the wire.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// All devices of the family. This audience carries the rosters.
  public static let family = Audience(rawValue: 0)
  /// The devices of the child and of all guardians.
  public static func conversation(_ child: PersonID) -> Audience {
    Audience(rawValue: 1 << 32 | UInt64(child.rawValue))
  }
  /// The devices of the person and, if the person is a child, of all guardians.
  public static func account(_ person: PersonID) -> Audience {
    Audience(rawValue: 2 << 32 | UInt64(person.rawValue))
  }
  /// The child of a conversation; `nil` for other audiences.
  public var conversationChild: PersonID? {
    rawValue >> 32 == 1 ? PersonID(UInt32(truncatingIfNeeded: rawValue)) : nil
  }
  /// The owner of an account; `nil` for other audiences.
  public var accountPerson: PersonID? {
    rawValue >> 32 == 2 ? PersonID(UInt32(truncatingIfNeeded: rawValue)) : nil
  }
  public static func < (a: Audience, b: Audience) -> Bool { a.rawValue < b.rawValue }
}
