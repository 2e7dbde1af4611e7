/// A scheme, host and port to which the gateway may post webhooks.
///
/// The operator lists origins: a manifest's URL could name any server that the device reaches.
package struct AllowedOrigin: Hashable, Sendable, CustomStringConvertible {
  /// The schemes that the gateway speaks.
  package enum Scheme: String, Sendable {
    case http, https

    /// The port of a URL without a port.
    var defaultPort: Int { self == .http ? 80 : 443 }
  }

  /// The scheme. Plain `http` is allowed only where the operator lists it.
  package let scheme: Scheme
  /// The host in lower case; an IPv6 address keeps its brackets.
  package let host: String
  /// The port, also if the text has none.
  package let port: Int

  /// Parses `https://host[:port]` or `http://host[:port]`.
  ///
  /// - Returns: `nil` for other schemes, user info, a path, a query, a fragment, or an empty host.
  package init?(_ text: String) {
    guard let (origin, rest) = Self.split(text), rest.isEmpty else { return nil }
    self = origin
  }

  private init(scheme: Scheme, host: String, port: Int) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// Whether the gateway may post to this URL: scheme, host and port are exactly these.
  package func allows(_ url: WebhookURL) -> Bool { url.origin == self }

  package var description: String {
    "\(scheme.rawValue)://\(host)" + (port == scheme.defaultPort ? "" : ":\(port)")
  }
}

extension AllowedOrigin {
  /// Splits a URL into its origin and the rest, which begins with `/` or `?` unless it is empty.
  ///
  /// The grammar is narrower than RFC 3986, so that no other parser finds another host in the text.
  static func split(_ text: String) -> (origin: AllowedOrigin, rest: Substring)? {
    guard text.utf8.count <= WebhookURL.longest, text.utf8.allSatisfy(isAllowed),
      let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
      let scheme = Scheme(rawValue: text[..<colon].lowercased())
    else { return nil }
    let authority = text[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" }
    let rest = text[authority.endIndex...]
    guard let (host, port) = hostAndPort(authority) else { return nil }
    let origin = AllowedOrigin(
      scheme: scheme, host: host.lowercased(), port: port ?? scheme.defaultPort)
    return (origin, rest)
  }

  /// Visible ASCII without the characters that parsers of URLs disagree about.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
  }

  private static func hostAndPort(_ authority: Substring) -> (host: Substring, port: Int?)? {
    let end =
      authority.first == "["
      ? authority.firstIndex(of: "]").map { authority.index(after: $0) }
      : authority.firstIndex(of: ":") ?? authority.endIndex
    guard let end, isHost(authority[..<end]) else { return nil }
    let rest = authority[end...]
    if rest.isEmpty { return (authority[..<end], nil) }
    guard rest.first == ":", let port = Int(rest.dropFirst()), (1...65_535).contains(port),
      rest.dropFirst() == String(port)
    else { return nil }
    return (authority[..<end], port)
  }

  private static func isHost(_ host: Substring) -> Bool {
    if host.first == "[" {
      let address = host.dropFirst().dropLast()
      return address.contains(":")
        && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }
    return !host.isEmpty && host.allSatisfy { $0.isLetter || $0.isNumber || "-._".contains($0) }
  }
}

/// The address of an app's webhook.
package struct WebhookURL: Hashable, Sendable {
  /// The longest URL, in bytes. A longer one is invalid.
  package static let longest = 2_048

  /// The URL as the manifest spells it.
  package let text: String
  /// The scheme, host and port that the operator has to allow.
  package let origin: AllowedOrigin

  /// Parses an `http` or `https` URL.
  ///
  /// - Returns: `nil` if the URL is too long, or has user info, a fragment or a character beyond
  ///   visible ASCII.
  package init?(_ text: String) {
    guard let (origin, _) = AllowedOrigin.split(text) else { return nil }
    self.text = text
    self.origin = origin
  }
}
