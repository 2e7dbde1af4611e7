/// The number of a request. Its reply carries the same number.
public struct RequestID: Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// The number on the wire.
  public var rawValue: UInt64
  /// Creates the id with this number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  /// Creates the id with this number.
  public init(integerLiteral rawValue: UInt64) { self.rawValue = rawValue }

  /// Number zero. As a command's id: the relay sends no reply if it appends a new event, because
  /// the device receives its own event as a broadcast. As a reply's id: the reply answers no
  /// request.
  public static let unnumbered = RequestID(0)
}
