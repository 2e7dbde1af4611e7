/// A phone number, an e-mail address, a custom user name, a site or an authorization.
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
    /// The authorization of one app to manage the child, known in that app only.
    case authorization = 5

    /// Whether a handle of the kind concerns one app. Handles of other kinds concern every app.
    public var isOfOneApp: Bool { self == .custom || self == .authorization }
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
  /// The handle that an approved authorization makes known in the app.
  public static let authorization = Handle("family-controls", .authorization)

  /// Whether people can be asked about the handle. Sites and authorizations have topics of their own.
  var isOfPerson: Bool { kind != .site && kind != .authorization }
  public static func < (a: Handle, b: Handle) -> Bool {
    (a.kind.rawValue, a.value) < (b.kind.rawValue, b.value)
  }
}
