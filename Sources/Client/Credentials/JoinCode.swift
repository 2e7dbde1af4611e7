import Crypto
public import FamilyModel
public import FamilyTrust
import Foundation
public import ZeroMQ

/// What an invitation's code says: the ticket, where the relay is and its key, and whom to trust.
///
/// As text: base32 (RFC 4648, without padding) in groups of eight, the last four bytes a checksum. Capitals,
/// digits and `-`, so a QR code has room for it.
public struct JoinCode: Sendable {
  /// The secret.
  public var ticket: JoinTicket
  /// The family.
  public var family: FamilyID
  /// What the new device trusts from the first on.
  public var organizerKey: [UInt8]
  /// The relay's key.
  public var relayKey: CurvePublicKey
  /// Where requests go.
  public var requests: String
  /// Where broadcasts come from.
  public var broadcasts: String

  /// The code for a device that joins the family of this one.
  public init(_ ticket: JoinTicket, from credential: Credential) {
    self.ticket = ticket
    family = credential.address.family
    organizerKey = credential.organizerKey
    relayKey = credential.relayKey
    requests = credential.requests
    broadcasts = credential.broadcasts
  }

  private static let version: UInt8 = 1
  private static let checksum = 4
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  /// The code to type, to paste, or to draw.
  public var text: String {
    var bytes = [Self.version] + ticket.secret + organizerKey + relayKey.bytes
    withUnsafeBytes(of: family.rawValue.bigEndian) { bytes += $0 }
    // What the second endpoint has in common with the first is not said twice.
    let shared = zip(requests.utf8, broadcasts.utf8).prefix { $0 == $1 }.count
    bytes += [UInt8(clamping: requests.utf8.count)] + Array(requests.utf8)
    bytes += [UInt8(clamping: shared)] + Array(broadcasts.utf8.dropFirst(shared))
    bytes += SHA256.hash(data: bytes).prefix(Self.checksum)
    return Self.grouped(Self.base32(bytes))
  }

  /// Reads a code; spaces, line ends and the kind of letters do not matter.
  ///
  /// - Throws: `PrivateFile.Failure`, which says what to do.
  public init(text: String) throws {
    func value(_ character: UInt8) -> UInt8? {
      Self.alphabet.firstIndex(of: character).map(UInt8.init)
    }
    let characters = text.uppercased().utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "-") }
    let values = characters.compactMap(value)
    let bytes = Self.bytes(values)
    guard values.count == characters.count, bytes.count > Self.checksum,
      Array(SHA256.hash(data: bytes.dropLast(Self.checksum)).prefix(Self.checksum))
        == Array(bytes.suffix(Self.checksum))
    else { throw Self.unreadable }
    var rest = bytes.dropLast(Self.checksum)[...]
    func take(_ count: Int) throws -> [UInt8] {
      guard rest.count >= count else { throw Self.unreadable }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    guard try take(1) == [Self.version], let ticket = JoinTicket(secret: try take(JoinTicket.count))
    else { throw Self.unreadable }
    self.ticket = ticket
    organizerKey = try take(32)
    guard let relayKey = CurvePublicKey(bytes: try take(32)) else { throw Self.unreadable }
    self.relayKey = relayKey
    family = FamilyID(try take(8).reduce(0) { $0 << 8 | UInt64($1) })
    let first = try take(Int(try take(1)[0]))
    let shared = Int(try take(1)[0])
    guard shared <= first.count else { throw Self.unreadable }
    requests = String(decoding: first, as: UTF8.self)
    broadcasts = String(decoding: first.prefix(shared) + rest, as: UTF8.self)
  }

  private static let unreadable = PrivateFile.Failure(
    description: "This is not a code of an invitation, or it was not copied in full: look at the "
      + "guardian's screen again.")

  private static func base32(_ bytes: [UInt8]) -> [UInt8] {
    var (bits, count) = (0, 0)
    var result: [UInt8] = []
    for byte in bytes {
      (bits, count) = ((bits << 8 | Int(byte)) & 0xFFFF, count + 8)
      while count >= 5 {
        count -= 5
        result.append(alphabet[bits >> count & 31])
      }
    }
    if count > 0 { result.append(alphabet[bits << (5 - count) & 31]) }
    return result
  }

  private static func bytes(_ values: [UInt8]) -> [UInt8] {
    var (bits, count) = (0, 0)
    var result: [UInt8] = []
    for value in values {
      (bits, count) = ((bits << 5 | Int(value)) & 0xFFFF, count + 5)
      guard count >= 8 else { continue }
      count -= 8
      result.append(UInt8(truncatingIfNeeded: bits >> count))
    }
    return result
  }

  private static func grouped(_ characters: [UInt8]) -> String {
    stride(from: 0, to: characters.count, by: 8).map { start in
      String(decoding: characters[start..<min(start + 8, characters.count)], as: UTF8.self)
    }.joined(separator: "-")
  }
}
