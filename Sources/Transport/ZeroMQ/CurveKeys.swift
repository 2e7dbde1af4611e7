import CZeroMQ

/// A CURVE public key: 32 bytes, written as 40 characters of Z85 (ZeroMQ RFC 32).
public struct CurvePublicKey: Hashable, Sendable, CustomStringConvertible {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// `nil` unless there are 32 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Z85.keySize else { return nil }
    self.bytes = bytes
  }

  /// `nil` unless it is 40 characters of Z85.
  public init?(z85 text: String) {
    guard let bytes = Z85.decodeKey(text) else { return nil }
    self.bytes = bytes
  }

  /// The key as 40 characters of Z85.
  public var z85: String { Z85.encodeKey(bytes) }

  /// The same as ``z85``: a public key is no secret.
  public var description: String { z85 }
}

/// A CURVE public key and its secret. The secret shows in no description, dump or reflection.
public struct CurveKeyPair: Hashable, Sendable {
  /// Tell it to everybody.
  public let publicKey: CurvePublicKey
  /// The 32 secret bytes. Store them in a file of mode 0600 only.
  public let secretBytes: [UInt8]

  /// A new random pair.
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

  /// The pair of a stored secret; `nil` unless there are 32 bytes.
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

  /// The pair of a stored secret; `nil` unless it is 40 characters of Z85.
  public init?(secretZ85 text: String) {
    guard let bytes = Z85.decodeKey(text) else { return nil }
    self.init(secretBytes: bytes)
  }

  /// The secret as 40 characters of Z85, for a file of mode 0600.
  public var secretZ85: String { Z85.encodeKey(secretBytes) }
}

extension CurveKeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The public key; the secret is left out.
  public var description: String { "CurveKeyPair(\(publicKey), secret redacted)" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The public key; the secret is left out.
  public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// How a socket uses CURVE.
public enum CurveSecurity: Sendable {
  /// Proves the pair's public key to clients. Without a ``ZAPHandler`` every client's key is let in.
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
