import Hummingbird

/// The context of a request: the app that its token names.
struct GatewayContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The app, set by ``GatewayAccess``.
  var gateway: AppGateway?

  init(source: Source) { coreContext = .init(source: source) }

  /// The app of an authorized request.
  var app: AppGateway {
    get throws {
      guard let gateway else { throw HTTPError(.unauthorized) }
      return gateway
    }
  }
}

/// Refuses requests that are not an app's: pages of a browser, names that resolve to this machine, and
/// tokens that no app has.
struct GatewayAccess: RouterMiddleware {
  typealias Context = GatewayContext
  private static let hosts: Set = ["localhost", "127.0.0.1", "[::1]"]
  /// Paths that need no token.
  private static let openPaths: Set = ["/v1/openapi.json"]

  private static let question = "/v1/questions/"
  private static let methods: [String: HTTPRequest.Method] = [
    "/v1/openapi.json": .get, "/v1/status": .get, "/v1/age-features": .get,
    "/v1/age-rating": .get, "/v1/events": .get, "/v1/feed": .get, "/v1/known-handles": .post,
    "/v1/questions": .post, "/v1/acknowledged": .post, "/v1/age-range": .post,
    "/v1/update-acknowledgment": .post,
  ]

  let apps: [(token: [UInt8], app: AppGateway)]

  func handle(
    _ request: Request, context: GatewayContext,
    next: (Request, GatewayContext) async throws -> Response
  ) async throws -> Response {
    do {
      var context = context
      try check(request)
      try checkMethod(of: request)
      if !Self.openPaths.contains(request.uri.path) { context.gateway = try app(of: request) }
      return try await next(request, context)
    } catch { return GatewayProblem(error).response() }
  }

  private func check(_ request: Request) throws {
    guard request.headers[.origin] == nil else {
      throw GatewayProblem(status: .forbidden, detail: "Pages of a browser have no access.")
    }
    let authority = request.head.authority ?? ""
    // The port follows the last colon outside of an IPv6 address.
    let host =
      authority.hasPrefix("[")
      ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
    guard Self.hosts.contains(host.lowercased()) else {
      throw GatewayProblem(
        status: .misdirectedRequest, detail: "The Host is localhost, 127.0.0.1 or [::1].")
    }
  }

  private func checkMethod(of request: Request) throws {
    let path = request.uri.path
    let isQuestion = path.hasPrefix(Self.question) && path.count > Self.question.count
    guard let method = isQuestion ? HTTPRequest.Method.delete : Self.methods[path],
      method != request.method
    else { return }
    var problem = GatewayProblem(
      status: .methodNotAllowed, detail: "The method of this path is \(method.rawValue).")
    problem.allowed = method.rawValue
    throw problem
  }

  private func app(of request: Request) throws -> AppGateway {
    let words = (request.headers[.authorization] ?? "").split(separator: " ")
    let token = words.count == 2 && words[0].lowercased() == "bearer" ? [UInt8](words[1].utf8) : []
    // Every token is compared in full, so that the time says nothing about a token.
    var found: AppGateway?
    for (expected, app) in apps where Self.isEqual(token, expected) { found = app }
    guard let found else {
      throw GatewayProblem(
        status: .unauthorized, detail: "The header Authorization has no app's token.")
    }
    return found
  }

  private static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
