package import FamilyModel

/// How a person is reached: a value, and what kind of value it is.
public struct CommunicationHandle: Hashable, Codable, Sendable {
  /// The kinds of handles.
  public enum Kind: String, Hashable, Codable, Sendable {
    /// A telephone number.
    case phoneNumber
    /// An e-mail address.
    case emailAddress
    /// A user name of this app.
    case custom
  }
  /// The number, address or name.
  public var value: String
  /// What `value` is.
  public var kind: Kind
  /// The handle `value` of kind `kind`.
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
    case .custom: self.init(value: handle.value, kind: .custom)
    }
  }
}

/// A picture: encoded bytes and their media type. It stands where Apple's API has a `CGImage`.
public struct AvatarImage: Hashable, Codable, Sendable {
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
