/// A client's handshake that requests authentication, as in ZeroMQ RFC 27 (ZAP 1.0).
public struct ZAPRequest: Sendable, Hashable {
  /// The security mechanisms of ZMTP.
  public enum Mechanism: Sendable, Hashable {
    /// No authentication.
    case null
    /// A name and a password, which are not passed on.
    case plain
    /// A proof of the secret key of this public key.
    case curve(CurvePublicKey)
  }

  /// The ``SocketOptions/zapDomain`` of the server's socket.
  public let domain: String
  /// The client's network address. Personal: not for logs.
  public let address: String
  /// The client's security mechanism.
  public let mechanism: Mechanism

  /// The key that the client has proved to own; `nil` without CURVE.
  public var publicKey: CurvePublicKey? {
    if case .curve(let key) = mechanism { key } else { nil }
  }
}

/// The reply to a ``ZAPRequest``.
public enum ZAPDecision: Sendable, Hashable {
  /// Admits the client. Every message of the connection carries the user id, up to 255 bytes.
  case accept(userID: String)
  /// Admits a CURVE client with its public key in Z85 as the user id, and refuses every other
  /// client.
  case acceptKey
  /// Refuses the client with status 400. The client does not retry.
  case deny
  /// Refuses the client for now with status 300. The client gets no reply and retries after its
  /// handshake interval.
  case tryLater
}

/// Encodes and decodes ZAP's frames.
enum ZAPFrames {
  static let version = Array("1.0".utf8)
  static let endpoint = "inproc://zeromq.zap.01"
  /// version, request id, domain, address, identity, mechanism, credentials (PLAIN has two)
  static let minimumParts = 6
  static let maximumParts = 8

  /// Decodes a request; `nil` if the frames violate RFC 27.
  static func parse(_ frames: [[UInt8]]) -> ZAPRequest? {
    guard (minimumParts...maximumParts).contains(frames.count), frames[0] == version,
      let mechanism = mechanism(frames[5], credentials: frames[6...])
    else { return nil }
    return ZAPRequest(
      domain: String(decoding: frames[2], as: UTF8.self),
      address: String(decoding: frames[3], as: UTF8.self), mechanism: mechanism)
  }

  private static func mechanism(
    _ name: [UInt8], credentials: ArraySlice<[UInt8]>
  ) -> ZAPRequest.Mechanism? {
    switch String(decoding: name, as: UTF8.self) {
    case "NULL" where credentials.isEmpty: .null
    case "PLAIN" where credentials.count == 2: .plain
    case "CURVE" where credentials.count == 1:
      CurvePublicKey(bytes: credentials[credentials.startIndex]).map { .curve($0) }
    default: nil
    }
  }

  static func reply(to id: [UInt8], _ status: String, _ text: String, userID: String) -> [[UInt8]] {
    [version, id, Array(status.utf8), Array(text.utf8), Array(userID.utf8), []]
  }

  static func reply(to id: [UInt8], _ request: ZAPRequest, _ decision: ZAPDecision) -> [[UInt8]] {
    switch decision {
    case .accept(let userID) where userID.utf8.count <= 255:
      reply(to: id, "200", "OK", userID: userID)
    case .acceptKey:
      if let key = request.publicKey {
        reply(to: id, "200", "OK", userID: key.z85)
      } else {
        reply(to: id, "400", "a key is needed", userID: "")
      }
    case .deny: reply(to: id, "400", "not known here", userID: "")
    case .tryLater: reply(to: id, "300", "try again later", userID: "")
    case .accept: reply(to: id, "500", "user id too long", userID: "")
    }
  }
}
