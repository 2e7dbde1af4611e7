/// An app, by its bundle identifier.
public struct Application: Hashable, Sendable {
  /// The identifier, 1 to 128 bytes.
  public let bundleIdentifier: String?
  /// Creates an app with this identifier.
  public init(bundleIdentifier: String) { self.bundleIdentifier = bundleIdentifier }
}

/// A domain of the web.
public struct WebDomain: Hashable, Sendable {
  /// The domain, as a person or a browser writes a host.
  public let domain: String?
  /// Creates a domain. A setting covers all hosts below its registrable domain.
  public init(domain: String) { self.domain = domain }
}
