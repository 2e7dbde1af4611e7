import CZeroMQ

/// A CURVE public key: 32 bytes, written as 40 characters of Z85 (ZeroMQ RFC 32).
public struct CurvePublicKey: Hashable, Sendable, CustomStringConvertible {
  /// The key's 32 bytes.
  public let bytes: [UInt8]

  /// Creates a key; `nil` unless there are 32 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Z85.keySize else { return nil }
    self.bytes = bytes
  }

  /// Creates a key from its text; `nil` unless the text is 40 characters of Z85.
  public init?(z85 text: String) {
    guard let bytes = Z85.decodeKey(text) else { return nil }
    self.bytes = bytes
  }

  /// The key as 40 characters of Z85.
  public var z85: String { Z85.encodeKey(bytes) }

  /// The same as ``z85``, because a public key is not secret.
  public var description: String { z85 }
}

/// A CURVE public key and its secret. No description, dump or reflection shows the secret.
public struct CurveKeyPair: Hashable, Sendable {
  /// The public key. Safe to publish.
  public let publicKey: CurvePublicKey
  /// The secret's 32 bytes. Stored only in files of mode 0600.
  public let secretBytes: [UInt8]

  /// Creates a random pair.
  /// - Throws: `other` if libzmq was built without CURVE.
  public static func generate() throws(ZeroMQError) -> CurveKeyPair {
    var publicText = [CChar](repeating: 0, count: Z85.keyTextSize + 1)
    var secretText = publicText
    guard zmq_curve_keypair(&publicText, &secretText) == 0 else { throw .last("make keys") }
    guard let pair = CurveKeyPair(secretZ85: Z85.string(secretText)),
      pair.publicKey.z85 == Z85.string(publicText)
    else { throw ZeroMQError(.other, "make keys") }
    return pair
  }

  /// Creates the pair of a stored secret; `nil` unless there are 32 bytes.
  public init?(secretBytes: [UInt8]) {
    guard secretBytes.count == Z85.keySize else { return nil }
    let secretText = Z85.encodeKey(secretBytes)
    var publicText = [CChar](repeating: 0, count: Z85.keyTextSize + 1)
    guard zmq_curve_public(&publicText, secretText) == 0,
      let publicKey = CurvePublicKey(z85: Z85.string(publicText))
    else { return nil }
    self.publicKey = publicKey
    self.secretBytes = secretBytes
  }

  /// Creates the pair of a stored secret; `nil` unless the text is 40 characters of Z85.
  public init?(secretZ85 text: String) {
    guard let bytes = Z85.decodeKey(text) else { return nil }
    self.init(secretBytes: bytes)
  }

  /// The secret as 40 characters of Z85, for files of mode 0600.
  public var secretZ85: String { Z85.encodeKey(secretBytes) }
}

extension CurveKeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The public key without the secret.
  public var description: String { "CurveKeyPair(\(publicKey), secret redacted)" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// A mirror of the public key without the secret.
  public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// A socket's role and keys in CURVE.
public enum CurveSecurity: Sendable {
  /// Proves the pair's public key to clients. Without a ``ZAPHandler`` every client's key is
  /// admitted.
  case server(CurveKeyPair)
  /// Connects only to the owner of `server`, and proves its own key to it.
  case client(CurveKeyPair, server: CurvePublicKey)

  func apply(to handle: SocketHandle) throws(ZeroMQError) {
    switch self {
    case .server(let keys):
      try handle.enable(ZMQ_CURVE_SERVER)
      try handle.set(ZMQ_CURVE_SECRETKEY, keys.secretBytes)
    case .client(let keys, let server):
      try handle.set(ZMQ_CURVE_SERVERKEY, server.bytes)
      try handle.set(ZMQ_CURVE_PUBLICKEY, keys.publicKey.bytes)
      try handle.set(ZMQ_CURVE_SECRETKEY, keys.secretBytes)
    }
  }
}
