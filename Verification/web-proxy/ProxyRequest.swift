import Foundation

/// A browser's first request on a connection to the proxy: a tunnel, or a page without encryption.
struct ProxyRequest: Equatable {
  /// The largest head in bytes. Above: the request is refused.
  static let headLimit = 16_384
  private static let scheme = "http://"
  /// Headers between browser and proxy alone. The host is that of the address.
  private static let ownHeaders: Set = [
    "connection", "host", "keep-alive", "proxy-authorization", "proxy-connection",
  ]

  /// The address that the rules decide about.
  var url: URL
  /// The host to connect to: the one of the address, so that no header evades its rule.
  var host: String
  var port: Int
  /// The head for the origin; `nil` for a tunnel.
  var head: String?

  /// The request with this head, which ends before the empty line; `nil` for any other text.
  ///
  /// A page is one request per connection. A second one could name another host.
  init?(_ text: String) {
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
    let isTunnel = words[0] == "CONNECT"
    let target = String(words[1])
    guard isTunnel || target.hasPrefix(Self.scheme) else { return nil }
    let rest = isTunnel ? target[...] : target.dropFirst(Self.scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@"), !isTunnel || authority.count == rest.count,
      let url = URL(string: isTunnel ? "https://\(target)/" : target),
      let host = url.host(percentEncoded: false), !host.isEmpty
    else { return nil }
    guard let port = url.port ?? (isTunnel ? nil : 80), 1...65_535 ~= port else { return nil }
    (self.url, self.port) = (url, port)
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    guard !isTunnel else { return }
    var path = rest.dropFirst(authority.count)
    if !path.hasPrefix("/") { path = "/" + path }
    var kept: [Substring] = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      if !Self.ownHeaders.contains(line[..<colon].lowercased()) { kept.append(line) }
    }
    head =
      (["\(words[0]) \(path) HTTP/1.1", "Host: \(authority)", "Connection: close"]
      + kept.map(String.init)).joined(separator: "\r\n") + "\r\n\r\n"
  }
}
