/// The name of a content key: a digest of the key.
public typealias ContentKeyID = ID128

/// A content key sealed for one device with HPKE.
public struct KeyWrap: Hashable, Sendable {
  /// The name of the sealed key.
  public var key: ContentKeyID
  /// The device's X25519 public key. A device with new keys is a new reader.
  public var reader: [UInt8]
  /// The sealed key, which only the reader can open.
  public var bytes: [UInt8]
  /// Creates a key wrap.
  public init(key: ContentKeyID, reader: [UInt8], bytes: [UInt8]) {
    self.key = key
    self.reader = reader
    self.bytes = bytes
  }
}
