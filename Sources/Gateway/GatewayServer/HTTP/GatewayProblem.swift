import AppClient
import DeviceConnection
import FamilyModel
import GatewayModel
import Hummingbird

/// The reason why a request has no result, as RFC 9457 writes it.
struct GatewayProblem: Error {
  var status: HTTPResponse.Status
  var detail: String
  /// The number in docs/Problems.md; `nil` for a problem of HTTP alone.
  var number: Int?
  /// The method that the path has, for a request with another one.
  var allowed: String?

  static let tooMany = GatewayProblem(
    status: .tooManyRequests, detail: "Too many requests of this app wait. Repeat this one later.")
  static let stopping = GatewayProblem(
    status: .serviceUnavailable, detail: "The gateway stops. Repeat the request.")
  static let notFound = GatewayProblem(status: .notFound, detail: "Nothing is here.")

  init(status: HTTPResponse.Status, detail: String, number: Int? = nil) {
    self.status = status
    self.detail = detail
    self.number = number
  }

  init(_ error: any Error) {
    switch error {
    case let problem as GatewayProblem: self = problem
    case let error as InvalidBody:
      self.init(status: .unprocessableContent, detail: error.description)
    case let error as any HTTPResponseError:
      self.init(status: error.status, detail: "\(error.status.reasonPhrase).")
    case is CancellationError: self = .stopping
    default:
      let problem = DeviceProblem(reason: error)
      self.init(
        status: Self.status(of: problem.number), detail: problem.description,
        number: problem.number)
    }
  }

  private static func status(of number: Int) -> HTTPResponse.Status {
    switch number {
    case 102, 300...399: .unprocessableContent
    case 424: .tooManyRequests
    case 201, 202, 410, 411, 414: .forbidden
    case 408, 412, 415, 421: .conflict
    case 400...419: .unprocessableContent
    default: .serviceUnavailable
    }
  }

  func response() -> Response {
    var members: [String: JSONValue] = [
      "title": .string(status.reasonPhrase), "status": .number(status.code),
      "detail": .string(detail),
    ]
    if let number { members["number"] = .number(number) }
    var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
    if status == .serviceUnavailable || status == .tooManyRequests { headers[.retryAfter] = "5" }
    if let allowed { headers[.allow] = allowed }
    if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
    return Response(
      status: status, headers: headers,
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONValue.object(members).data)))
  }
}
