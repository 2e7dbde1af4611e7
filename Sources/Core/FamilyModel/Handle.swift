/// How a person is reached: a value and what kind of value it is (Q2).
public struct Handle: Hashable, Comparable, Sendable {
  /// The kinds of handles.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// A telephone number.
    case phoneNumber = 1
    /// An e-mail address.
    case emailAddress = 2
    /// A user name of one app: known for that app only (K5).
    case custom = 3
  }
  /// The number, address or name, as the app gave it.
  public var value: String
  /// What `value` is.
  public var kind: Kind
  /// The handle `value` of kind `kind`.
  public init(_ value: String, _ kind: Kind) {
    self.value = value
    self.kind = kind
  }
  public static func < (a: Handle, b: Handle) -> Bool {
    (a.kind.rawValue, a.value) < (b.kind.rawValue, b.value)
  }

  /// The form in which handles are compared: an address in lower case, a number without separators.
  ///
  /// `+1 (555) 010-0199` and `+15550100199` are one person; custom names are compared to the letter.
  public var canonical: Handle {
    // Nearly always it is there already.
    if isPlainlyCanonical { return self }
    return switch kind {
    case .custom: self
    case .emailAddress: Handle(value.lowercased(), kind)
    case .phoneNumber: Handle(value.filter { !" ()-./\u{A0}".contains($0) }, kind)
    }
  }
}

extension Handle {
  /// Whether a look at the bytes shows that the handle is in canonical form.
  private var isPlainlyCanonical: Bool {
    switch kind {
    case .custom: true
    case .emailAddress: hasOnly { $0 < 0x80 && !(0x41...0x5A).contains($0) }
    case .phoneNumber: hasOnly { $0 == 0x2B || (0x30...0x39).contains($0) }
    }
  }

  private func hasOnly(_ isRight: (UInt8) -> Bool) -> Bool {
    value.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isRight) } ?? false
  }
}

/// The parts of a person's name, as Foundation's `PersonNameComponents` has them.
public struct NameParts: Hashable, Sendable {
  /// Honorific before the name.
  public var prefix = ""
  /// Given name.
  public var given = ""
  /// Middle name.
  public var middle = ""
  /// Family name.
  public var family = ""
  /// What stands after the name.
  public var suffix = ""
  /// Nickname.
  public var nickname = ""
  /// A name with nothing in it.
  public init() {}
}

/// An encoded picture and its media type. Never trusted: shown only after the checks of S2.
public struct Avatar: Hashable, Sendable {
  /// For example `image/png`.
  public var mediaType: String
  /// The encoded picture.
  public var bytes: [UInt8]
  /// A picture of this type.
  public init(mediaType: String, bytes: [UInt8]) {
    self.mediaType = mediaType
    self.bytes = bytes
  }
}

/// Somebody whom a question is about: a handle, and what the app knows about the person (Q3).
public struct Subject: Hashable, Sendable {
  /// How the person is reached.
  public var handle: Handle
  /// The person's name, if the app or the child gave one.
  public var name: NameParts?
  /// The person's picture, if the app gave one.
  public var avatar: Avatar?
  /// A person reached at `handle`.
  public init(handle: Handle, name: NameParts? = nil, avatar: Avatar? = nil) {
    self.handle = handle
    self.name = name
    self.avatar = avatar
  }
}
