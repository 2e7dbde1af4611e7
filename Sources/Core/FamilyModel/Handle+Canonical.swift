@_spi(_Unicode) import Swift

// The only place that decides whether two handles are the same one. The relay's subject digests,
// the devices' known handles and the apps' caches compare the bytes of the canonical form.

extension Handle {
  /// The form in which handles are compared, byte by byte. The form of a canonical handle is the
  /// handle itself.
  ///
  /// - Custom names: Unicode normalization form C. Case and compatibility forms stay distinct,
  ///   because an app may give `Ada` and `ada`, or `ａda`, to different people.
  /// - E-mail addresses: lower case in normalization form C.
  /// - Phone numbers: ASCII digits with the leading `+`, without separators and format characters.
  public var canonical: Handle {
    // Nearly all handles are already in this form.
    if isPlainlyCanonical { return self }
    return switch kind {
    case .custom, .site, .authorization: Handle(value.composed, kind)
    // Composition before the change of case: some letters compose to one with a lower case.
    case .emailAddress: Handle(value.composed.lowercased().composed, kind)
    case .phoneNumber: Handle(value.dialed.composed, kind)
    }
  }

  /// Whether the handle is in canonical form, decided by its bytes alone. `false` means unknown.
  private var isPlainlyCanonical: Bool {
    switch kind {
    case .custom, .site, .authorization: hasOnly { $0 < 0x80 }
    case .emailAddress: hasOnly { $0 < 0x80 && !(0x41...0x5A).contains($0) }
    case .phoneNumber: hasOnly { $0 == 0x2B || (0x30...0x39).contains($0) }
    }
  }

  private func hasOnly(_ isAllowed: (UInt8) -> Bool) -> Bool {
    value.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isAllowed) } ?? false
  }
}

extension Handle {
  /// Checks that the value is a handle of its kind.
  ///
  /// - A phone number has 2 to 20 digits, after an optional `+`. `*` and `#` may stand among them.
  /// - An e-mail address has one `@` with text on both sides, and no whitespace.
  /// - No handle has control characters, line separators or bidirectional controls.
  ///
  /// - Throws: `emptyHandle`, `handleTooLong` or `badHandle`.
  public func validate() throws(Problem) {
    guard value.contains(where: { !$0.isWhitespace }) else { throw .emptyHandle }
    let canonical = canonical.value
    guard max(value.utf8.count, canonical.utf8.count) <= Limits.handleBytes else {
      throw .handleTooLong
    }
    // The canonical form of a number has no format characters, which copied numbers often carry.
    guard !canonical.unicodeScalars.contains(where: \.isForbiddenInHandles) else {
      throw .badHandle
    }
    switch kind {
    case .custom: return
    case .site: guard Site(canonical) != nil else { throw .badHandle }
    case .authorization: guard self == .authorization else { throw .badHandle }
    case .emailAddress: guard canonical.isAddress else { throw .badHandle }
    case .phoneNumber: guard canonical.isNumber else { throw .badHandle }
    }
  }
}

extension Handle {
  /// The handle of the first kind that the text fits: e-mail address, phone number, custom name.
  public init(guessingKindOf text: String) {
    let kinds: [Kind] = [.emailAddress, .phoneNumber]
    self =
      kinds.map { Handle(text, $0) }.first { (try? $0.validate()) != nil } ?? Handle(text, .custom)
  }

  /// Whether a person could take one handle for the other: names and addresses that differ in case
  /// or marks, numbers that differ in their international prefix.
  ///
  /// A resemblance decides nothing. Explanations name the handles that resemble an unknown one.
  public func resembles(_ other: Handle) -> Bool {
    guard kind == other.kind else { return false }
    let (mine, others) = (canonical.value, other.canonical.value)
    guard kind == .phoneNumber else { return mine.folded == others.folded }
    let (a, b) = (mine.nationalDigits, others.nationalDigits)
    return min(a.count, b.count) >= Limits.comparedDigits && (a.hasSuffix(b) || b.hasSuffix(a))
  }
}

extension String {
  /// The text in lower case without marks and invisible characters.
  fileprivate var folded: String {
    var text = String.UnicodeScalarView()
    for scalar in self.lowercased()._nfd {
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .format: break
      default: text.append(scalar)
      }
    }
    return String(text)
  }

  /// The digits after an international or national prefix of `+` and zeros.
  fileprivate var nationalDigits: String { String(drop { $0 == "+" || $0 == "0" }) }
}

extension String {
  /// The text in Unicode normalization form C.
  fileprivate var composed: String {
    // The standard library has the normal forms as SPI, which Foundation uses as well. A test
    // compares the results with Foundation's.
    var text = String.UnicodeScalarView()
    for scalar in self._nfc { text.append(scalar) }
    return String(text)
  }

  /// The characters that a telephone dials: decimal digits of every script as ASCII digits.
  fileprivate var dialed: String {
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars where !scalar.isNumberSeparator {
      let properties = scalar.properties
      if properties.numericType == .decimal, let digit = properties.numericValue {
        text.append(Unicode.Scalar(0x30 + UInt8(digit)))
      } else {
        text.append(scalar == "\u{FF0B}" ? "+" : scalar)
      }
    }
    return String(text)
  }

  /// Precondition: the text is canonical.
  fileprivate var isNumber: Bool {
    let dialed = utf8.first == UInt8(ascii: "+") ? utf8.dropFirst() : utf8[...]
    let digits = dialed.count { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let signs = dialed.count { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "#") }
    return Limits.phoneDigits.contains(digits) && digits + signs == dialed.count
  }

  fileprivate var isAddress: Bool {
    let parts = split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !contains(where: \.isWhitespace) else {
      return false
    }
    return parts[1].split(separator: ".", omittingEmptySubsequences: false)
      .allSatisfy { !$0.isEmpty }
  }
}

extension Unicode.Scalar {
  /// Whether people write the character between a number's digits, or editors leave it there.
  fileprivate var isNumberSeparator: Bool {
    switch self {
    case "(", ")", ".", "/", "\u{FF08}", "\u{FF09}", "\u{2212}": return true
    // Line ends and tabs are whitespace as well, but no number has them.
    case _ where value < 0x20: return false
    default: break
    }
    let properties = self.properties
    return properties.isWhitespace || properties.generalCategory == .dashPunctuation
      || properties.generalCategory == .format
  }

  /// Whether the character could forge the text around a handle.
  fileprivate var isForbiddenInHandles: Bool {
    switch value {
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: return true
    default: break
    }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    default: return false
    }
  }
}
