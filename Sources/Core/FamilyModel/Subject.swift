/// The parts of a person's name, as in Foundation's `PersonNameComponents`.
public struct NameParts: Hashable, Sendable {
  /// The honorific before the name.
  public var prefix = ""
  /// The given name.
  public var given = ""
  /// The middle name.
  public var middle = ""
  /// The family name.
  public var family = ""
  /// The text after the name, for example `Jr.`
  public var suffix = ""
  /// The nickname.
  public var nickname = ""
  /// Creates an empty name.
  public init() {}
}

/// An encoded image and its media type. Untrusted: displayed only after `validate()` and the
/// content check.
public struct Avatar: Hashable, Sendable {
  /// For example `image/png`.
  public var mediaType: String
  /// The encoded image.
  public var bytes: [UInt8]
  /// Creates an avatar; the bytes are not checked.
  public init(mediaType: String, bytes: [UInt8]) {
    self.mediaType = mediaType
    self.bytes = bytes
  }
}

/// A person whom a question is about: a handle, and optionally a name and an image.
public struct Subject: Hashable, Sendable {
  /// The person's handle.
  public var handle: Handle
  /// The person's name, if the app or the child gave one.
  public var name: NameParts?
  /// The person's image, if the app gave one.
  public var avatar: Avatar?
  /// Creates the subject with this handle.
  public init(handle: Handle, name: NameParts? = nil, avatar: Avatar? = nil) {
    self.handle = handle
    self.name = name
    self.avatar = avatar
  }
}
