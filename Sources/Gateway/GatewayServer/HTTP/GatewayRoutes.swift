import Foundation
import GatewayModel
import Hummingbird
import SQLiteStore
import ServiceLifecycle

/// A call of the device API.
struct GatewayRoute: Sendable {
  let method: HTTPRequest.Method
  /// The components of the path. `:id` stands for one component.
  let components: [Substring]
  /// Whether the call needs no token.
  let isOpen: Bool
  let answer: @Sendable (Request, GatewayContext) async throws -> Response

  init(
    _ method: HTTPRequest.Method, _ path: String, isOpen: Bool = false,
    answer: @escaping @Sendable (Request, GatewayContext) async throws -> Response
  ) {
    self.method = method
    components = path.split(separator: "/")
    self.isOpen = isOpen
    self.answer = answer
  }

  /// Whether the path is this call's, with any method.
  func has(path: String) -> Bool {
    let parts = path.split(separator: "/")
    return parts.count == components.count
      && zip(parts, components).allSatisfy { $0 == $1 || $1.hasPrefix(":") }
  }
}

/// The calls of the device API. Resources/openapi.json describes them.
enum GatewayRoutes {
  /// The router for the apps, each with its token.
  static func router(_ apps: [(token: String, app: AppGateway)]) -> Router<GatewayContext> {
    let router = Router(context: GatewayContext.self)
    router.add(
      middleware: GatewayAccess(
        routes: all, apps: apps.map { (Array($0.token.utf8), $0.app) }))
    for route in all {
      let path = RouterPath("/" + route.components.joined(separator: "/"))
      router.on(path, method: route.method, use: route.answer)
    }
    return router
  }

  static let all: [GatewayRoute] = [
    .init(.get, "v1/openapi.json", isOpen: true) { _, _ in
      json(Data(PackageResources.openapi_json))
    },
    .init(.get, "v1/status") { _, context in json(try await context.app.status().data) },
    .init(.get, "v1/age-features") { _, context in
      json(try await context.app.ageFeatures().data)
    },
    .init(.get, "v1/age-rating") { _, context in json(try await context.app.ageRating().data) },
    post("v1/known-handles") { try await $0.knownHandles($1) },
    post("v1/questions") { try await $0.ask($1) },
    post("v1/acknowledged") { try await $0.acknowledge($1) },
    post("v1/age-range") { try await $0.ageRange($1) },
    post("v1/update-acknowledgment") { try await $0.acknowledgeUpdate($1) },
    .init(.delete, "v1/questions/:id") { _, context in
      try await context.app.abandon(context.parameters.require("id"))
      return Response(status: .noContent)
    },
    .init(.get, "v1/events") { request, context in try await stream(request, context.app) },
    .init(.get, "v1/feed") { request, context in
      json(try await page(request, context.app).data)
    },
  ]

  private static func post(
    _ path: String,
    _ call: @escaping @Sendable (AppGateway, JSONValue) async throws -> JSONValue
  ) -> GatewayRoute {
    GatewayRoute(.post, path) { request, context in
      let type = request.headers[.contentType]?.prefix { $0 != ";" } ?? ""
      guard type.lowercased().trimmingCharacters(in: .whitespaces) == "application/json" else {
        throw GatewayProblem(
          status: .unsupportedMediaType, detail: "The Content-Type is application/json.")
      }
      let body = try await request.body.collect(upTo: GatewayLimits.bodyBytes)
      let app = try context.app
      let value = try JSONValue.parse(Data(body.readableBytesView))
      let reply = try await cancelWhenGracefulShutdown { try await call(app, value) }
      return json(reply.data)
    }
  }

  private static func json(_ data: Data) -> Response {
    Response(
      status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }

  // MARK: Events

  /// A page of events, possibly after a wait.
  private static func page(_ request: Request, _ app: AppGateway) async throws -> JSONValue {
    let known: Set = ["after", "limit", "wait"]
    if let other = request.uri.queryParameters.map({ String($0.key) }).first(where: {
      !known.contains($0)
    }) {
      throw InvalidBody(path: other, reason: "not a known parameter")
    }
    let after =
      try number("after", request, 0...UInt64(Int64.max)) ?? app.store.acknowledged(by: app.app)
    let limit = try number("limit", request, 1...UInt64(GatewayLimits.pageEvents)) ?? 100
    let wait = try number("wait", request, 0...UInt64(GatewayLimits.feedWait)) ?? 0
    if wait > 0 {
      try await app.reading {
        await cancelWhenGracefulShutdown {
          await app.waitForNews(after: after, within: .seconds(Int64(wait)))
        }
      }
    }
    let events = try app.store.events(of: app.app, after: after, limit: Int(limit))
    return .object([
      "events": .array(events.map(GatewayEvent.value)), "newest": .number(await app.newest),
    ])
  }

  private static func number(_ name: String, _ request: Request, _ range: ClosedRange<UInt64>)
    throws -> UInt64?
  {
    let texts = request.uri.queryParameters[values: Substring(name)]
    guard texts.count < 2 else { throw InvalidBody(path: name, reason: "given twice") }
    guard let text = texts.first else { return nil }
    guard text.allSatisfy(\.isASCIIDigit), let number = UInt64(text), range.contains(number) else {
      throw InvalidBody(
        path: name, reason: "not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The events as server-sent events, until the client closes the connection.
  private static func stream(_ request: Request, _ app: AppGateway) async throws -> Response {
    var after = try app.store.acknowledged(by: app.app)
    if let text = request.headers[.init("Last-Event-ID")!] {
      guard let number = UInt64(text), number <= UInt64(Int64.max) else {
        throw InvalidBody(path: "Last-Event-ID", reason: "not the id of an event")
      }
      after = number
    }
    let start = after
    try await app.startReading()
    let body = ResponseBody { writer in
      do {
        try await write(&writer, app, after: start)
        await app.endReading()
      } catch {
        await app.endReading()
        throw error
      }
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: body)
  }

  private static func write(
    _ writer: inout any ResponseBodyWriter, _ app: AppGateway, after start: UInt64
  ) async throws {
    var after = start
    // The comment makes clients see the open stream at once.
    try await writer.write(ByteBuffer(string: ": open\n\n"))
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      let events = try app.store.events(of: app.app, after: after, limit: 100)
      for event in events {
        let text = String(decoding: GatewayEvent.json(event), as: UTF8.self)
        try await writer.write(
          ByteBuffer(string: "id: \(event.number)\nevent: \(event.type)\ndata: \(text)\n\n"))
        after = event.number
      }
      guard events.isEmpty else { continue }
      let position = after
      await cancelWhenGracefulShutdown {
        await app.waitForNews(after: position, within: GatewayLimits.heartbeat)
      }
      if await app.newest <= after { try await writer.write(ByteBuffer(string: ": \n\n")) }
    }
    try await writer.finish(nil)
  }
}

extension AppGateway {
  /// Counts a reader of the log.
  ///
  /// - Throws: `GatewayProblem.tooMany`.
  func startReading() throws {
    guard readers < GatewayLimits.readers else { throw GatewayProblem.tooMany }
    readers += 1
  }

  func endReading() { readers -= 1 }

  func reading(_ body: () async -> Void) async throws {
    try startReading()
    await body()
    endReading()
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
