/// A client that wants to connect, as ZeroMQ RFC 27 (ZAP 1.0) tells it.
public struct ZAPRequest: Sendable, Hashable {
  /// How the client authenticates.
  public enum Mechanism: Sendable, Hashable {
    /// Not at all.
    case null
    /// With a name and a password, which are not passed on.
    case plain
    /// By proof of its key.
    case curve(CurvePublicKey)
  }

  /// The ``SocketOptions/zapDomain`` of the socket that it connects to.
  public let domain: String
  /// The network address that it connects from. Personal: not for logs.
  public let address: String
  /// How the client authenticates.
  public let mechanism: Mechanism

  /// The key that it has proved to own, if it uses CURVE.
  public var publicKey: CurvePublicKey? {
    if case .curve(let key) = mechanism { key } else { nil }
  }
}

/// The answer to a ``ZAPRequest``.
public enum ZAPDecision: Sendable, Hashable {
  /// Let in. The user id is on every message of the connection, up to 255 bytes.
  case accept(userID: String)
  /// Let in a client that uses CURVE under its public key in Z85; refuse every other.
  case acceptKey
  /// Refused: the client is told 400, and does not try again.
  case deny
  /// Refused for now (300): the client hears nothing, and tries again after its handshake interval.
  case tryLater
}

/// Reads and writes ZAP's frames.
enum ZAPFrames {
  static let version = Array("1.0".utf8)
  static let endpoint = "inproc://zeromq.zap.01"
  /// version, request id, domain, address, identity, mechanism, credentials (PLAIN has two)
  static let minimumParts = 6
  static let maximumParts = 8

  /// `nil` for everything that RFC 27 does not allow.
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
