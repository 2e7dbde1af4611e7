import Foundation
import GatewayModel
import Hummingbird
import SQLiteStore
import ServiceLifecycle

/// The routes of the device API. Resources/openapi.json describes them.
enum GatewayRoutes {
  /// The router for the apps, each with its token.
  static func router(_ apps: [(token: String, app: AppGateway)]) -> Router<GatewayContext> {
    let router = Router(context: GatewayContext.self)
    router.add(
      middleware: GatewayAccess(apps: apps.map { (Array($0.token.utf8), $0.app) }))
    let group = router.group("v1")
    group.get("openapi.json") { _, _ in
      json(Data(PackageResources.openapi_json))
    }
    group.get("status") { _, context in json(try await context.app.status().data) }
    group.get("age-features") { _, context in json(try await context.app.ageFeatures().data) }
    group.get("age-rating") { _, context in json(try await context.app.ageRating().data) }
    post(group, "known-handles") { try await $0.knownHandles($1) }
    post(group, "questions") { try await $0.ask($1) }
    post(group, "acknowledged") { try await $0.acknowledge($1) }
    post(group, "age-range") { try await $0.ageRange($1) }
    post(group, "update-acknowledgment") { try await $0.acknowledgeUpdate($1) }
    group.delete("questions/:id") { _, context in
      try await context.app.abandon(context.parameters.require("id"))
      return Response(status: .noContent)
    }
    group.get("events") { request, context in try await stream(request, context.app) }
    group.get("feed") { request, context in json(try await page(request, context.app).data) }
    return router
  }

  private static func post(
    _ group: RouterGroup<GatewayContext>, _ path: RouterPath,
    _ call: @escaping @Sendable (AppGateway, JSONValue) async throws -> JSONValue
  ) {
    group.post(path) { request, context in
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
