package import FamilyModel

/// A phone number, an e-mail address or a user name of the app.
///
/// Devices compare handles in canonical form, while `==` compares the values as given:
///
/// - A ``Kind/phoneNumber`` in ASCII digits, without spaces and `(` `)` `-` `.` `/`. An approval
///   holds in every app.
/// - An ``Kind/emailAddress`` in lower case and Unicode normalization form C. An approval holds in
///   every app.
/// - A ``Kind/custom`` user name in normalization form C, with its case. An approval holds in the
///   app that asked.
///
/// `+1 (555) 010-0199` and `+15550100199` are one handle. `15550100199` is another one, so pass the
/// international form with its plus sign.
public struct CommunicationHandle: Hashable, Codable, Sendable {
  /// The kind of a handle's value.
  public enum Kind: String, Hashable, Codable, Sendable {
    /// A telephone number in international form, such as `+1 555 0100`.
    case phoneNumber
    /// An e-mail address.
    case emailAddress
    /// A user name of this app.
    case custom
  }
  /// The number, address or name: 1 to 320 bytes of UTF-8, without control characters.
  ///
  /// A number has 2 to 20 digits, an address one `@` with text on both sides.
  public var value: String
  /// The kind of ``value``.
  public var kind: Kind
  /// Creates a handle. `ask` validates the value, this initializer does not.
  public init(value: String, kind: Kind) {
    self.value = value
    self.kind = kind
  }

  package var model: Handle {
    switch kind {
    case .phoneNumber: Handle(value, .phoneNumber)
    case .emailAddress: Handle(value, .emailAddress)
    case .custom: Handle(value, .custom)
    }
  }

  package init(_ handle: Handle) {
    switch handle.kind {
    case .phoneNumber: self.init(value: handle.value, kind: .phoneNumber)
    case .emailAddress: self.init(value: handle.value, kind: .emailAddress)
    case .custom, .site, .authorization: self.init(value: handle.value, kind: .custom)
    }
  }
}

/// An encoded picture with its media type, in the place of Apple's `CGImage`.
///
/// A picture is a still PNG, JPEG, GIF or WebP image of at most 65,536 bytes and 1,024 × 1,024
/// pixels. For more bytes, `ask` throws ``AskError/invalidQuestion``. For any other violation, it
/// throws ``AskError/systemError(underlyingError:)`` with problem 309.
public struct AvatarImage: Hashable, Codable, Sendable {
  /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`, in any case of letters.
  public var mediaType: String
  /// The encoded picture, at most 65,536 bytes.
  public var bytes: [UInt8]
  /// Creates a picture. `ask` validates the bytes, this initializer does not.
  public init(mediaType: String, bytes: [UInt8]) {
    self.mediaType = mediaType
    self.bytes = bytes
  }
}
