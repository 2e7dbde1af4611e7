/// A device's signature of what it changes, or of what the administrator brings in for it.
///
/// It goes with the command to the relay, and with the event from there to everybody: the relay stores it,
/// and cannot make one.
public struct Signature: Hashable, Sendable {
  /// The device that signed.
  public var signer: DeviceID
  /// The last event of the family's own audience that the signer knew: who reads this and knows less has to
  /// wait, since the signer may have come later.
  public var seen: UInt64
  /// Ed25519, 64 bytes.
  public var bytes: [UInt8]
  /// Bytes of an Ed25519 signature.
  public static let byteCount = 64
  /// A signature with these parts.
  public init(signer: DeviceID, seen: UInt64, bytes: [UInt8]) {
    self.signer = signer
    self.seen = seen
    self.bytes = bytes
  }
}

/// The key under which contents of an audience are sealed: its name.
public typealias ContentKeyID = ID128

/// A content key, sealed for one device (HPKE).
public struct KeyWrap: Hashable, Sendable {
  /// Which key.
  public var key: ContentKeyID
  /// For whom: the device's X25519 public key, so that a device with new keys is another reader.
  public var reader: [UInt8]
  /// What only the reader can open.
  public var bytes: [UInt8]
  /// A wrap with these parts.
  public init(key: ContentKeyID, reader: [UInt8], bytes: [UInt8]) {
    self.key = key
    self.reader = reader
    self.bytes = bytes
  }
}

/// Bytes that are signed or bound: each part can be told from the next, so no two meanings share them.
public struct BoundBytes: Sendable {
  /// The bytes so far.
  public private(set) var bytes: [UInt8]

  /// Begins with what they are for.
  public init(_ domain: String) { bytes = Array(domain.utf8) + [0] }

  /// Appends a number, big-endian.
  public mutating func add(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends bytes, their count (4) before them.
  public mutating func add(_ part: [UInt8]) {
    add(UInt32(part.count))
    bytes += part
  }

  /// Appends a text in UTF-8, its count (4) before it.
  public mutating func add(_ text: String) { add(Array(text.utf8)) }

  /// Appends a 128-bit number.
  public mutating func add(_ id: ID128) {
    add(id.high)
    add(id.low)
  }
}
