/// A family's number, unique at a relay. The operator who provisions families assigns it.
public struct FamilyID: Hashable, Comparable, Sendable {
  /// The number on the wire and in the store.
  public var rawValue: UInt64
  /// Creates the id with this number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (a: FamilyID, b: FamilyID) -> Bool { a.rawValue < b.rawValue }
}

/// A person's number, unique in the family. Zero means no person.
public struct PersonID: Hashable, Comparable, Sendable {
  /// The number on the wire and in the store.
  public var rawValue: UInt32
  /// Creates the id with this number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public static func < (a: PersonID, b: PersonID) -> Bool { a.rawValue < b.rawValue }
}

/// A device's number, unique in the family. Zero means the relay's administrator.
public struct DeviceID: Hashable, Comparable, Sendable {
  /// The number on the wire and in the store.
  public var rawValue: UInt32
  /// Creates the id with this number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public static func < (a: DeviceID, b: DeviceID) -> Bool { a.rawValue < b.rawValue }
}

/// A device and its family: unique at a relay.
public struct DeviceAddress: Hashable, Comparable, Sendable {
  /// The device's family.
  public var family: FamilyID
  /// The device in that family.
  public var device: DeviceID
  /// Creates the address of `device` in `family`.
  public init(family: FamilyID, device: DeviceID) {
    self.family = family
    self.device = device
  }
  public static func < (a: DeviceAddress, b: DeviceAddress) -> Bool {
    (a.family, a.device) < (b.family, b.device)
  }
}

/// A 128-bit number, ordered as a big-endian number.
public struct ID128: Hashable, Comparable, Sendable {
  /// The more significant half.
  public var high: UInt64
  /// The less significant half.
  public var low: UInt64
  /// Creates the number `high · 2⁶⁴ + low`.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
  public static func < (a: ID128, b: ID128) -> Bool { (a.high, a.low) < (b.high, b.low) }

  /// The sixteen bytes, most significant first.
  public var bytes: [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
  }

  /// Reads sixteen bytes, most significant first; `nil` for any other count.
  @inlinable
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var (high, low): (UInt64, UInt64) = (0, 0)
    for byte in bytes {
      high = high << 8 | low >> 56
      low = low << 8 | UInt64(byte)
    }
    self.init(high: high, low: low)
  }
}

/// A question's id: the UUID of the app's `PermissionQuestion`.
public typealias QuestionID = ID128

/// A command's id: chosen by the device, ordered by time, and stored with the event that the
/// command produced. Two devices may use one id: see ``CommandName``.
public typealias CommandID = ID128

extension CommandID {
  /// The device's time when it made the id.
  package var time: Instant { Instant(milliseconds: Int64(high >> 16)) }
}

/// An app's bundle identifier.
public struct AppID: Hashable, Comparable, Sendable {
  /// The bundle identifier, for example `example.landmarks`.
  public var rawValue: String
  /// Creates the id with this bundle identifier.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  public static func < (a: AppID, b: AppID) -> Bool { a.rawValue < b.rawValue }
}

extension UInt64 {
  /// A hash of 32 bits: the number times 2⁶⁴ divided by the golden ratio (Knuth, Sorting and
  /// Searching, 6.4). Numbers that are consecutive, or differ by a power of two, get distant
  /// hashes.
  @inlinable package var scattered: UInt64 { (self &* 0x9E37_79B9_7F4A_7C15) >> 32 }
}
