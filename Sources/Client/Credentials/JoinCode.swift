import Crypto
public import FamilyModel
public import FamilyTrust
import Foundation
public import ZeroMQ

/// The code that carries an invitation to a new device: the ticket, the relay's endpoints and key,
/// and the organizer's key.
///
/// The text is base32 (RFC 4648, without padding) in groups of eight. The last four bytes are a
/// checksum. Capitals, digits and `-` use a QR code's compact alphanumeric mode. docs/Protocol.md
/// lists the bytes.
public struct JoinCode: Sendable {
  /// The invitation's secret.
  public var ticket: JoinTicket
  /// The family to join.
  public var family: FamilyID
  /// The organizer's Ed25519 key, 32 bytes, through which the new device trusts all others.
  public var organizerKey: [UInt8]
  /// The relay's CURVE key.
  public var relayKey: CurvePublicKey
  /// The relay's endpoint for requests.
  public var requests: String
  /// The relay's endpoint for broadcasts.
  public var broadcasts: String

  /// Creates the code for a device that joins the family of `credential`.
  public init(_ ticket: JoinTicket, from credential: Credential) {
    self.ticket = ticket
    family = credential.address.family
    organizerKey = credential.organizerKey
    relayKey = credential.relayKey
    requests = credential.requests
    broadcasts = credential.broadcasts
  }

  private static let version: UInt8 = 1
  private static let checksumBytes = 4
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  /// The code as text, to type, paste or draw as a QR code.
  public var text: String { text(version: Self.version) }

  /// The code in the form of a version that begins with this number.
  func text(version: UInt8) -> String {
    var bytes = [version] + ticket.secret + organizerKey + relayKey.bytes
    withUnsafeBytes(of: family.rawValue.bigEndian) { bytes += $0 }
    // The endpoints usually differ in the port only: their common prefix is stored once.
    let shared = zip(requests.utf8, broadcasts.utf8).prefix { $0 == $1 }.count
    bytes += [UInt8(clamping: requests.utf8.count)] + Array(requests.utf8)
    bytes += [UInt8(clamping: shared)] + Array(broadcasts.utf8.dropFirst(shared))
    bytes += SHA256.hash(data: bytes).prefix(Self.checksumBytes)
    return Self.grouped(Self.base32(bytes))
  }

  /// Reads a code. Spaces, line breaks, dashes and case are ignored.
  ///
  /// - Throws: `PrivateFile.Failure` if the code is incomplete, mistyped or of another version.
  public init(text: String) throws {
    func value(_ character: UInt8) -> UInt8? {
      Self.alphabet.firstIndex(of: character).map(UInt8.init)
    }
    let characters = text.uppercased().utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "-") }
    let values = characters.compactMap(value)
    let bytes = Self.bytes(values)
    guard values.count == characters.count, bytes.count > Self.checksumBytes,
      Array(SHA256.hash(data: bytes.dropLast(Self.checksumBytes)).prefix(Self.checksumBytes))
        == Array(bytes.suffix(Self.checksumBytes))
    else { throw Self.unreadable }
    var remaining = bytes.dropLast(Self.checksumBytes)[...]
    func read(_ count: Int) throws -> [UInt8] {
      guard remaining.count >= count else { throw Self.unreadable }
      defer { remaining = remaining.dropFirst(count) }
      return Array(remaining.prefix(count))
    }
    guard try read(1) == [Self.version] else { throw Self.otherVersion }
    guard let ticket = JoinTicket(secret: try read(JoinTicket.count)) else {
      throw Self.unreadable
    }
    self.ticket = ticket
    organizerKey = try read(32)
    guard let relayKey = CurvePublicKey(bytes: try read(32)) else { throw Self.unreadable }
    self.relayKey = relayKey
    family = FamilyID(try read(8).reduce(0) { $0 << 8 | UInt64($1) })
    let first = try read(Int(try read(1)[0]))
    let shared = Int(try read(1)[0])
    guard shared <= first.count else { throw Self.unreadable }
    requests = String(decoding: first, as: UTF8.self)
    broadcasts = String(decoding: first.prefix(shared) + remaining, as: UTF8.self)
  }

  private static let otherVersion = PrivateFile.Failure(
    description:
      "This join code is of another version. Install the guardian's version on this device.")
  private static let unreadable = PrivateFile.Failure(
    description: "This is not a complete join code. Compare the code with the guardian's screen.")

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
