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
  public var bytes: [UInt8] {
    get { withBytes { [UInt8]($0) } }
    set { newValue.withUnsafeBytes { value = Value($0) } }
  }
  /// Bytes of an Ed25519 signature.
  public static let byteCount = 64
  /// In place: a copy counts no references.
  private var value: Value

  /// A signature with these parts; `bytes` are 64.
  public init(signer: DeviceID, seen: UInt64, bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { Signature(signer: signer, seen: seen, bytes: $0) }
  }

  /// Likewise.
  package init(signer: DeviceID, seen: UInt64, bytes: UnsafeRawBufferPointer) {
    self.signer = signer
    self.seen = seen
    value = Value(bytes)
  }

  /// Calls the body with the ``bytes``.
  package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    withUnsafeBytes(of: value, body)
  }

  /// The bytes as they lie in memory. (Not private: what is printed of it would have another name in each run.)
  struct Value: Hashable {
    var a, b, c, d: ID128

    init(_ bytes: UnsafeRawBufferPointer) {
      precondition(bytes.count == byteCount, "an Ed25519 signature has 64 bytes")
      func quarter(_ index: Int) -> ID128 {
        bytes.loadUnaligned(fromByteOffset: index * 16, as: ID128.self)
      }
      (a, b, c, d) = (quarter(0), quarter(1), quarter(2), quarter(3))
    }
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
