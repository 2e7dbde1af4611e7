import CSiteNames
public import FamilyModel
import Glibc

extension Site {
  /// The site of a host: the registrable domain, or the host itself if it has none.
  ///
  /// libpsl has the public suffix list, and libidn2 the ASCII form of international names
  /// (IDNA 2008 with the mapping of UTS 46). A host has no scheme, port or path. One dot at the end is
  /// ignored. All spellings of a numeric address are one site.
  ///
  /// - Parameter host: The host of an address as a person or a browser writes it.
  /// - Returns: `nil` for a text that is no host.
  public init?(host: String) {
    if let address = Self.address(host) {
      self.init(address)
      return
    }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    guard let ascii = Self.ascii(name), Self.isName(ascii) else { return nil }
    guard Self.isAddress(ascii) else {
      self.init(Self.registrable(ascii) ?? ascii)
      return
    }
    guard let address = Self.numbers(ascii) else { return nil }
    self.init(address)
  }

  /// An address of version 6 in brackets, in its one spelling. A mapped address of version 4 reaches
  /// the same host as the address itself.
  private static func address(_ host: String) -> String? {
    guard host.hasPrefix("["), host.hasSuffix("]"), !host.utf8.contains(0) else { return nil }
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address) == 1 else {
      return nil
    }
    let bytes = withUnsafeBytes(of: address) { Array($0) }
    if bytes.starts(with: mappedPrefix) { return dotted(bytes[mappedPrefix.count...]) }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &address, &text, socklen_t(text.count)) != nil else { return nil }
    return text.withUnsafeBufferPointer { "[\(String(cString: $0.baseAddress!))]" }
  }

  private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

  private static func dotted(_ bytes: some Collection<UInt8>) -> String {
    bytes.map { String($0) }.joined(separator: ".")
  }

  /// Whether a browser reads the name as an address of version 4, by its last label.
  private static func isAddress(_ ascii: String) -> Bool {
    guard let last = ascii.split(separator: ".").last else { return false }
    return last.utf8.allSatisfy { (0x30...0x39).contains($0) }
      || last.hasPrefix("0x") && last.dropFirst(2).allSatisfy(\.isHexDigit)
  }

  /// An address of version 4 in its one spelling. Parts may be missing, hexadecimal or octal.
  private static func numbers(_ ascii: String) -> String? {
    var address = in_addr()
    guard inet_aton(ascii, &address) != 0 else { return nil }
    return withUnsafeBytes(of: address.s_addr) { dotted($0) }
  }

  private static func ascii(_ name: String) -> String? {
    var result: UnsafeMutablePointer<CChar>?
    let flags = Int32(IDN2_NFC_INPUT.rawValue) | Int32(IDN2_NONTRANSITIONAL.rawValue)
    guard !name.utf8.contains(0), idn2_to_ascii_8z(name, &result, flags) == IDN2_OK.rawValue,
      let result
    else { return nil }
    defer { idn2_free(result) }
    return String(cString: result).lowercased()
  }

  /// Whether each label has letters, digits, hyphens and underscores only.
  private static func isName(_ ascii: String) -> Bool {
    ascii.utf8.count <= Limits.siteBytes
      && ascii.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        !label.isEmpty
          && label.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
              || byte == 0x5F
          }
      }
  }

  private static func registrable(_ ascii: String) -> String? {
    // The result points into the argument.
    return ascii.withCString { name in
      psl_registrable_domain(psl_builtin(), name).map { String(cString: $0) }
    }
  }
}
