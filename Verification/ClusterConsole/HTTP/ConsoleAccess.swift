import Foundation
import GatewayModel
import Hummingbird
import Synchronization

/// The secrets of one console. The URL's token opens the page; the cookie proves that a page has it.
final class ConsoleSecrets: Sendable {
  /// The name of the cookie.
  static let cookieName = "permission-relay-console"

  let token = ConsoleSecrets.random()
  let cookie = ConsoleSecrets.random()
  private let boundPort = Mutex(0)

  /// The port of the console; 0 before it listens.
  var port: Int {
    get { boundPort.withLock { $0 } }
    set { boundPort.withLock { $0 = newValue } }
  }

  /// The address that a person opens. A browser sends no server the part after the number sign.
  var url: String { "http://127.0.0.1:\(port)/#\(token)" }

  private static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// Refuses requests of other pages, of names that resolve to this machine, and without the cookie.
struct ConsoleAccess: RouterMiddleware {
  typealias Context = BasicRequestContext
  let secrets: ConsoleSecrets
  /// The paths of the page's own files, which need no cookie.
  let openPaths: Set<String>

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response: Response
    if let refusal = refusal(of: request) {
      response = ConsoleReply.problem(refusal, status: .forbidden)
    } else {
      do { response = try await next(request, context) } catch {
        let status = (error as? any HTTPResponseError)?.status ?? .internalServerError
        response = ConsoleReply.problem(status.reasonPhrase, status: status)
      }
    }
    for (name, value) in Self.securityHeaders { response.headers[.init(name)!] = value }
    return response
  }

  /// Why the request is refused; `nil` if it is not.
  private func refusal(of request: Request) -> String? {
    let host = request.head.authority ?? ""
    guard ["127.0.0.1:\(secrets.port)", "localhost:\(secrets.port)"].contains(host) else {
      return "The Host is 127.0.0.1 or localhost, with the console's port."
    }
    if let origin = request.headers[.origin], origin != "http://\(host)" {
      return "Pages of another origin have no access."
    }
    if let site = request.headers[.init("Sec-Fetch-Site")!],
      !["same-origin", "none"].contains(site)
    {
      return "Pages of another origin have no access."
    }
    if request.method == .get, openPaths.contains(request.uri.path) { return nil }
    if request.method == .post {
      // No form of another page can set such a header.
      guard request.headers[.origin] != nil, request.headers[.init("X-Console")!] == "1"
      else {
        return "A command comes from the console's page."
      }
      if request.uri.path == "/session" { return nil }
    }
    guard hasCookie(request) else {
      return "Open the console with the address that `cluster up --console` printed."
    }
    return nil
  }

  private func hasCookie(_ request: Request) -> Bool {
    let cookies = (request.headers[.cookie] ?? "").split(separator: ";")
    return cookies.contains { cookie in
      let parts = cookie.split(separator: "=", maxSplits: 1)
      return parts.count == 2
        && parts[0].trimmingCharacters(in: .whitespaces) == ConsoleSecrets.cookieName
        && Secret.isEqual(Array(parts[1].utf8), Array(secrets.cookie.utf8))
    }
  }

  /// Headers of every response. The page has no inline script or style, and loads nothing from
  /// elsewhere.
  private static let securityHeaders: KeyValuePairs = [
    "Content-Security-Policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
      + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
      + "require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
  ]
}

/// The replies of the console.
enum ConsoleReply {
  static func json(_ data: Data, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }

  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
    json(try JSONDocument.encode(value), status: status)
  }

  /// A problem with its number in docs/Problems.md; 0 without one.
  static func problem(_ text: String, code: Int = 0, status: HTTPResponse.Status) -> Response {
    struct Body: Encodable {
      struct Problem: Encodable {
        var code: Int
        var text: String
      }
      var problem: Problem
    }
    let body = try? JSONDocument.encode(Body(problem: .init(code: code, text: text)))
    return json(body ?? Data(), status: status)
  }
}

/// The form of all documents: one line, members in order.
enum JSONDocument {
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }
}
