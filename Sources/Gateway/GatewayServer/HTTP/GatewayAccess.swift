import GatewayModel
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

  let routes: [GatewayRoute]
  let apps: [(token: [UInt8], app: AppGateway)]

  func handle(
    _ request: Request, context: GatewayContext,
    next: (Request, GatewayContext) async throws -> Response
  ) async throws -> Response {
    do {
      var context = context
      try check(request)
      if try route(of: request)?.isOpen != true { context.gateway = try app(of: request) }
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

  /// The call of the request; `nil` for a path that no call has.
  ///
  /// - Throws: A problem if the path has other methods only.
  private func route(of request: Request) throws -> GatewayRoute? {
    let routes = routes.filter { $0.has(path: request.uri.path) }
    if let route = routes.first(where: { $0.method == request.method }) { return route }
    guard !routes.isEmpty else { return nil }
    let allowed = routes.map(\.method.rawValue).joined(separator: ", ")
    var problem = GatewayProblem(
      status: .methodNotAllowed, detail: "The method of this path is \(allowed).")
    problem.allowed = allowed
    throw problem
  }

  private func app(of request: Request) throws -> AppGateway {
    let words = (request.headers[.authorization] ?? "").split(separator: " ")
    let token = words.count == 2 && words[0].lowercased() == "bearer" ? [UInt8](words[1].utf8) : []
    // Every token is compared in full, so that the time says nothing about a token.
    var found: AppGateway?
    for (expected, app) in apps where Secret.isEqual(token, expected) { found = app }
    guard let found else {
      throw GatewayProblem(
        status: .unauthorized, detail: "The header Authorization has no app's token.")
    }
    return found
  }
}
