/// A phone number, an e-mail address, a custom user name or a site.
public struct Handle: Hashable, Comparable, Sendable {
  /// The kinds of handles.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// A telephone number.
    case phoneNumber = 1
    /// An e-mail address.
    case emailAddress = 2
    /// A user name of one app, known in that app only.
    case custom = 3
    /// A site of the web, by its canonical name. Only questions to browse have one.
    case site = 4
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
  /// The handle of a site, which an approval to browse makes known.
  public init(_ site: Site) { self.init(site.name, .site) }
  public static func < (a: Handle, b: Handle) -> Bool {
    (a.kind.rawValue, a.value) < (b.kind.rawValue, b.value)
  }
}
