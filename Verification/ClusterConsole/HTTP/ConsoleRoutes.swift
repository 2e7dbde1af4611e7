import Foundation
import GatewayModel
import Hummingbird
import ServiceLifecycle

/// The routes of the console.
struct ConsoleRoutes: Sendable {
  /// The largest body of a request in bytes.
  static let bodyBytes = 64 << 10
  /// Pages that are open at once.
  static let pages = 16
  /// The time in which changes are collected before they are written to a page.
  static let pause = Duration.milliseconds(10)

  let secrets: ConsoleSecrets
  let page: ConsolePage
  let parts: Parts
  let console: ClusterConsole

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: ConsoleAccess(secrets: secrets, openPaths: page.paths))
    router.post("session") { request, _ in try await session(request) }
    router.get("events") { request, _ in try await events(request) }
    router.get("log") { request, _ in
      let before = try number("before", request).map(UInt64.init) ?? .max
      return try ConsoleReply.json(["events": await console.log(before: before)])
    }
    router.get("past") { request, _ in try await past(request) }
    router.post("act") { request, _ in try await act(request) }
    router.get("/") { request, _ in try page.response(to: request) }
    router.get("**") { request, _ in try page.response(to: request) }
    return router
  }

  // MARK: Session

  /// Trades the token of the URL for the cookie.
  private func session(_ request: Request) async throws -> Response {
    guard case .object(let body) = try await body(of: request),
      case .string(let token) = body["token"],
      Secret.isEqual(Array(token.utf8), Array(secrets.token.utf8))
    else {
      return ConsoleReply.problem(
        "The address has no token of this console. Copy the whole line.", status: .forbidden)
    }
    var response = ConsoleReply.json(Data("{}".utf8))
    response.headers[.setCookie] =
      "\(ConsoleSecrets.cookieName)=\(secrets.cookie); Path=/; HttpOnly; SameSite=Strict"
    return response
  }

  private func body(of request: Request) async throws -> JSONValue {
    let type = (request.headers[.contentType] ?? "").prefix { $0 != ";" }.lowercased()
    guard type.trimmingCharacters(in: .whitespaces) == "application/json" else {
      throw HTTPError(.unsupportedMediaType)
    }
    let buffer = try await request.body.collect(upTo: Self.bodyBytes)
    do { return try JSONValue.parse(Data(buffer.readableBytesView)) } catch {
      throw HTTPError(.badRequest)
    }
  }

  private func number(_ name: String, _ request: Request) throws -> Int64? {
    guard let text = request.uri.queryParameters[Substring(name)] else { return nil }
    guard let number = Int64(text), number >= 0 else { throw HTTPError(.badRequest) }
    return number
  }

  private func language(of request: Request) throws -> String {
    let language = request.uri.queryParameters["language"].map(String.init) ?? "en"
    guard ClusterConsole.languages.contains(language) else { throw HTTPError(.badRequest) }
    return language
  }

  // MARK: Reading

  /// The parts as server-sent events, until the page closes the connection.
  private func events(_ request: Request) async throws -> Response {
    let language = try language(of: request)
    guard await parts.readerCount < Self.pages else { throw HTTPError(.tooManyRequests) }
    let (id, changes) = await parts.changes()
    await console.opened(language)
    let body = ResponseBody { [parts] writer in
      do {
        try await Self.write(&writer, parts, changes, language)
      } catch {
        await parts.end(id)
        throw error
      }
      await parts.end(id)
    }
    return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
  }

  private static func write(
    _ writer: inout any ResponseBodyWriter, _ parts: Parts, _ changes: AsyncStream<Void>,
    _ language: String
  ) async throws {
    var version: UInt64 = 0
    try await writer.write(ByteBuffer(string: "retry: 500\n\n"))
    for await _ in changes {
      if version > 0 { try await Task.sleep(for: pause) }
      var text = ""
      for document in await parts.documents(after: version, in: language) {
        text += "id: \(document.version)\nevent: \(document.name.event)\ndata: "
        text += String(decoding: document.data, as: UTF8.self) + "\n\n"
        version = document.version
      }
      // A comment shows whether the page still reads.
      try await writer.write(ByteBuffer(string: text.isEmpty ? ":\n\n" : text))
    }
    try await writer.finish(nil)
  }

  /// The parts of a moment of the past.
  private func past(_ request: Request) async throws -> Response {
    guard let at = try number("at", request) else { throw HTTPError(.badRequest) }
    let documents = await parts.documents(at: at, in: try language(of: request))
    var events: [String: [String]] = [:]
    for document in documents {
      events[document.name.event, default: []].append(
        String(decoding: document.data, as: UTF8.self))
    }
    let members = events.sorted { $0.key < $1.key }.map { name, texts in
      switch name {
      case "device", "app": "\"\(name)s\":[\(texts.joined(separator: ","))]"
      default: "\"\(name)\":\(texts[0])"
      }
    }
    return ConsoleReply.json(
      Data("{\"at\":\(at),\"parts\":{\(members.joined(separator: ","))}}".utf8))
  }

  // MARK: Acts

  private func act(_ request: Request) async throws -> Response {
    let language = try language(of: request)
    guard case .object(let body) = try await body(of: request), body.count == 2,
      let act = body["act"]
    else { throw HTTPError(.badRequest) }
    do {
      let result: JSONValue
      switch (body["device"], body["app"], body["process"], act) {
      case (.string(let key), nil, nil, _):
        result = try await console.act(act, onDevice: key, in: language)
      case (nil, .string(let key), nil, _): result = try await console.act(act, onApp: key)
      case (nil, nil, .string(let name), .string(let act)):
        try await console.act(act, onProcess: name)
        result = .null
      default: throw HTTPError(.badRequest)
      }
      return ConsoleReply.json(JSONValue.object(["result": result]).data)
    } catch let refusal as ConsoleRefusal {
      return ConsoleReply.problem(
        refusal.text, code: refusal.code,
        status: refusal.isUnreachable ? .serviceUnavailable : .conflict)
    }
  }
}

/// Why an act was not done.
struct ConsoleRefusal: Error {
  /// The number in docs/Problems.md; 0 without one.
  var code = 0
  var text: String
  /// Whether the process does not answer.
  var isUnreachable = false
}
