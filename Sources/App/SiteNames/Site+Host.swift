import CSiteNames
public import FamilyModel

extension Site {
  /// The site of a host: the registrable domain, or the host itself if it has none.
  ///
  /// libpsl has the public suffix list, and libidn2 the ASCII form of international names
  /// (IDNA 2008 with the mapping of UTS 46). A host has no scheme, port or path. One dot at the end is
  /// ignored.
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
    self.init(Self.registrable(ascii) ?? ascii)
  }

  /// An address of version 6 in brackets, in lower case. An address of version 4 is like a name.
  private static func address(_ host: String) -> String? {
    guard host.hasPrefix("["), host.hasSuffix("]"), host.utf8.count > 4 else { return nil }
    let text = host.dropFirst().dropLast().lowercased()
    let isAddress =
      text.contains(":")
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || byte == 0x3A
          || byte == 0x2E
      }
    return isAddress ? "[\(text)]" : nil
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
    // An address of version 4 has no domain.
    guard ascii.utf8.contains(where: { !(0x30...0x39).contains($0) && $0 != 0x2E }) else {
      return nil
    }
    // The result points into the argument.
    return ascii.withCString { name in
      psl_registrable_domain(psl_builtin(), name).map { String(cString: $0) }
    }
  }
}
