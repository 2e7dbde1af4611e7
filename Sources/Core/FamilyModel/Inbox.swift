/// The topic on which the relay publishes to the hosts of one CURVE key.
///
/// An inbox names the relay's process and a number that the process never uses again. The numbers are
/// consecutive: libzmq walks all topics when a connection ends, and consecutive topics share most of
/// their bytes. All inboxes have the same size, so none is a prefix of another.
public struct Inbox: Hashable, Sendable {
  /// The size of an inbox on the wire.
  public static let byteCount = 8
  /// The first bytes, which name the relay's process.
  public static let processBytes = 3

  private static let numberBits = UInt64(8 * (byteCount - processBytes))

  /// The number that the bytes represent, in big-endian order.
  public var rawValue: UInt64

  /// Creates an inbox.
  ///
  /// - Parameters:
  ///   - process: Names the relay's process. Only the lower 24 bits count.
  ///   - number: The number in the process. Only the lower 40 bits count.
  public init(process: UInt32, number: UInt64) {
    rawValue = UInt64(process) << Self.numberBits | number & (1 << Self.numberBits - 1)
  }

  /// The inbox with these bytes.
  ///
  /// - Returns: `nil` unless there are ``byteCount`` bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    rawValue = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The topic of the broadcasts.
  public var bytes: [UInt8] { withUnsafeBytes(of: rawValue.bigEndian) { [UInt8]($0) } }

  /// The topic to which a host subscribes: the name of the relay's process. The relay approves the
  /// whole inbox in its place, so that all hosts share one requested topic.
  public var subscription: [UInt8] { [UInt8](bytes.prefix(Self.processBytes)) }
}
