/// A phone number, an e-mail address or a custom user name.
public struct Handle: Hashable, Comparable, Sendable {
  /// The kinds of handles.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// A telephone number.
    case phoneNumber = 1
    /// An e-mail address.
    case emailAddress = 2
    /// A user name of one app, known in that app only.
    case custom = 3
  }
  /// The number, address or name, as the app gave it.
  public var value: String
  /// The kind of `value`.
  public var kind: Kind
  /// Creates the handle `value` of kind `kind`.
  public init(_ value: String, _ kind: Kind) {
    self.value = value
    self.kind = kind
  }
  public static func < (a: Handle, b: Handle) -> Bool {
    (a.kind.rawValue, a.value) < (b.kind.rawValue, b.value)
  }

  /// The form in which handles are compared: an address in lower case, a number without separators.
  ///
  /// `+1 (555) 010-0199` and `+15550100199` are the same handle. Custom names are compared exactly.
  public var canonical: Handle {
    // Nearly all handles are already in this form.
    if isPlainlyCanonical { return self }
    return switch kind {
    case .custom: self
    case .emailAddress: Handle(value.lowercased(), kind)
    case .phoneNumber: Handle(value.filter { !" ()-./\u{A0}".contains($0) }, kind)
    }
  }
}

extension Handle {
  /// Whether the handle is in canonical form, decided by its bytes alone. `false` means unknown.
  private var isPlainlyCanonical: Bool {
    switch kind {
    case .custom: true
    case .emailAddress: hasOnly { $0 < 0x80 && !(0x41...0x5A).contains($0) }
    case .phoneNumber: hasOnly { $0 == 0x2B || (0x30...0x39).contains($0) }
    }
  }

  private func hasOnly(_ isAllowed: (UInt8) -> Bool) -> Bool {
    value.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isAllowed) } ?? false
  }
}
