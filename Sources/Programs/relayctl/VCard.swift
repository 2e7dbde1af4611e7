import FamilyModel
import Foundation
import TextTable

/// The contacts of a vCard file, version 3.0 (RFC 2426) or 4.0 (RFC 6350).
///
/// The reader uses the properties `FN`, `N`, `TEL` and `EMAIL` and ignores all others, such as
/// pictures and postal addresses.
struct VCardFile {
  /// Bytes of a file. Above: `ControlError`.
  static let maximumBytes = 4 * 1_024 * 1_024
  /// Contacts of a file, which are handles. Above: `ControlError`.
  static let maximumContacts = 1_000
  /// Bytes of one property after unfolding. Above: an error for the line.
  static let maximumPropertyBytes = 4_096

  /// A handle with the name of its card.
  struct Contact: Equatable {
    /// The handle as written.
    var handle: Handle
    /// The card's name; empty without one.
    var name: String
  }

  /// A line that the reader cannot use. The file's other lines are unaffected.
  struct LineError: Equatable, CustomStringConvertible {
    /// The line's number, from 1.
    var line: Int
    var reason: String
    var description: String { "line \(line): \(reason)" }
  }

  /// The contacts in the order of the file, each handle once.
  private(set) var contacts: [Contact] = []
  private(set) var errors: [LineError] = []

  /// Reads a file's bytes.
  ///
  /// - Throws: `ControlError` for a file that is too large, has too many contacts, or is no vCard.
  init(_ data: Data) throws {
    guard data.count <= Self.maximumBytes else {
      throw ControlError(
        "The file has \(data.count) bytes; \(Self.maximumBytes) are the limit. Export the contacts "
          + "without pictures.")
    }
    var card: Card?
    var found = false
    for property in Self.properties(data) {
      switch (property.name, property.value.uppercased()) {
      case ("BEGIN", "VCARD"):
        if card != nil { error(property, "the card before has no END:VCARD") }
        found = true
        card = Card()
      case ("END", "VCARD"):
        if let card { try add(card) } else { error(property, "END:VCARD without BEGIN:VCARD") }
        card = nil
      default:
        do throws(LineError.Reason) { try card?.read(property) } catch {
          self.error(property, error.text)
        }
      }
    }
    if card != nil { errors.append(LineError(line: 1, reason: "the last card has no END:VCARD")) }
    guard found else { throw ControlError("The file has no BEGIN:VCARD, so it is no vCard file.") }
  }

  private mutating func error(_ property: Property, _ reason: String) {
    errors.append(LineError(line: property.line, reason: reason))
  }

  private mutating func add(_ card: Card) throws {
    for handle in card.handles
    where !contacts.contains(where: { $0.handle.canonical == handle.canonical }) {
      guard contacts.count < Self.maximumContacts else {
        throw ControlError(
          "The file has more than \(Self.maximumContacts) contacts. Split it into several files.")
      }
      contacts.append(Contact(handle: handle, name: card.name))
    }
  }
}

extension VCardFile.LineError {
  /// The reason why a property is unusable.
  fileprivate struct Reason: Error {
    var text: String
    init(_ text: String) { self.text = text }
  }
}

extension VCardFile {
  /// One property, unfolded.
  private struct Property {
    /// The number of its first line.
    var line: Int
    /// The name in upper case, without a group.
    var name: String
    /// The parameters in upper case.
    var parameters: String
    /// The value with its escapes.
    var value: String
    var isTooLong: Bool
  }

  /// One card while its lines are read.
  private struct Card {
    var fullName = ""
    var nameParts = ""
    var handles: [Handle] = []
    var isSupported = true

    var name: String { fullName.isEmpty ? nameParts : fullName }

    mutating func read(_ property: Property) throws(LineError.Reason) {
      guard isSupported, ["VERSION", "FN", "N", "TEL", "EMAIL"].contains(property.name) else {
        return
      }
      guard !property.isTooLong else {
        throw LineError.Reason("the property is longer than \(maximumPropertyBytes) bytes")
      }
      guard !property.parameters.contains("QUOTED-PRINTABLE") else {
        throw LineError.Reason("quoted-printable text belongs to vCard 2.1: export as 3.0 or 4.0")
      }
      guard !property.value.contains("\u{FFFD}") else {
        throw LineError.Reason("the text is not UTF-8")
      }
      switch property.name {
      case "VERSION":
        isSupported = ["3.0", "4.0"].contains(property.value)
        guard isSupported else {
          throw LineError.Reason("version \(property.value) is not supported: export as 3.0 or 4.0")
        }
      case "FN": fullName = try Self.checked(property.value.unescaped)
      case "N":
        // Family, given, additional, prefix, suffix.
        let parts = property.value.components
        let order = [1, 2, 0].filter { parts.indices.contains($0) && !parts[$0].isEmpty }
        nameParts = try Self.checked(order.map { parts[$0] }.joined(separator: " "))
      case "TEL": handles.append(try Self.handle(property.value.number, .phoneNumber))
      default: handles.append(try Self.handle(property.value.address, .emailAddress))
      }
    }

    private static func checked(_ name: String) throws(LineError.Reason) -> String {
      do throws(Problem) {
        try Content.contactName(Handle("x", .custom), name).validateContact()
      } catch { throw LineError.Reason("the name is too long or has control characters") }
      return name
    }

    private static func handle(_ text: String, _ kind: Handle.Kind) throws(LineError.Reason)
      -> Handle
    {
      let handle = Handle(text, kind)
      do throws(Problem) { try handle.validate() } catch {
        throw LineError.Reason("'\(text)': \(error)".printable)
      }
      return handle
    }
  }

  /// The file's properties. A line that starts with a space or a tab continues the one before.
  private static func properties(_ data: Data) -> [Property] {
    var bytes = data[...]
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    var lines: [(number: Int, bytes: [UInt8])] = []
    for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
    {
      let line = line.last == 0x0D ? line.dropLast() : line
      if let first = line.first, first == 0x20 || first == 0x09, !lines.isEmpty {
        // One byte more than the limit proves that the property is too long.
        let room = maximumPropertyBytes + 1 - lines[lines.count - 1].bytes.count
        lines[lines.count - 1].bytes += line.dropFirst().prefix(max(0, room))
      } else if !line.isEmpty {
        lines.append((index + 1, Array(line.prefix(maximumPropertyBytes + 1))))
      }
    }
    return lines.compactMap { property($0.bytes, $0.number) }
  }

  private static func property(_ bytes: [UInt8], _ line: Int) -> Property? {
    var isQuoted = false
    let colon = bytes.firstIndex { byte in
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      return byte == UInt8(ascii: ":") && !isQuoted
    }
    guard let colon else { return nil }
    let head = String(decoding: bytes[..<colon], as: UTF8.self).uppercased()
    let name = head.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)[0]
    return Property(
      line: line, name: String(name.split(separator: ".").last ?? name),
      parameters: String(head.dropFirst(name.count)),
      value: String(decoding: bytes[(colon + 1)...], as: UTF8.self)
        .trimmingCharacters(in: .whitespaces),
      isTooLong: bytes.count > maximumPropertyBytes)
  }
}

extension String {
  /// The text without the escapes of vCard. A line break in a name becomes a space.
  fileprivate var unescaped: String { components.joined(separator: ";") }

  /// The parts between semicolons that are not escaped, each without escapes.
  fileprivate var components: [String] {
    var parts = [""]
    var isEscaped = false
    for character in self {
      switch (isEscaped, character) {
      case (false, "\\"):
        isEscaped = true
        continue
      case (true, "n"), (true, "N"): parts[parts.count - 1].append(" ")
      case (false, ";"): parts.append("")
      default: parts[parts.count - 1].append(character)
      }
      isEscaped = false
    }
    return parts
  }

  /// The number of a `TEL` value: text, or a `tel:` URI without its parameters.
  fileprivate var number: String {
    guard lowercased().hasPrefix("tel:") else { return unescaped }
    return String(dropFirst(4).prefix { $0 != ";" })
  }

  fileprivate var address: String {
    lowercased().hasPrefix("mailto:") ? String(dropFirst(7)) : unescaped
  }
}
