/// The body of an event whose kind this version does not know: a number and bytes.
///
/// The relay stores and forwards an opaque body without a change of what it enforces. A device keeps it
/// for a later version. Signature and chain cover number and bytes, so every version verifies them.
public struct OpaqueBody: Hashable, Sendable {
  /// The first number of a statement. A relay accepts statements of all numbers, because it never
  /// needs to know them. Smaller numbers are fields of the event's body on the wire: kinds that only a
  /// newer relay accepts.
  public static let firstStatement: UInt32 = 1000
  /// The number of the kind.
  public var kind: UInt32
  /// The encoded value, at most ``Limits/opaqueBytes`` in a command.
  public var bytes: [UInt8]
  /// Creates the body of an event of this kind.
  public init(kind: UInt32, bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }

  /// Whether a relay that does not know the kind accepts it.
  public var isStatement: Bool { kind >= Self.firstStatement }
}

extension Event.Body {
  /// Whether this version does not know the kind of the event.
  public var isOpaque: Bool { if case .opaque = self { true } else { false } }
}
