import AsyncHTTPClient
import FamilyModel
import GatewayModel
import NIOSSL

/// Posts webhooks over HTTP/1.1, one connection for each.
struct WebhookClient: Sendable {
  /// The connections to one server, for all apps.
  private static let connectionsPerServer = 4

  private let client: HTTPClient
  private let timeLimit: Milliseconds

  /// - Parameters:
  ///   - timeLimit: The longest time of one attempt.
  ///   - authorities: The certificates that servers may have beside those of the system.
  init(timeLimit: Milliseconds, authorities: WebhookAuthorities) {
    var configuration = HTTPClient.Configuration()
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.additionalTrustRoots = [.certificates(authorities.certificates)]
    configuration.tlsConfiguration = tls
    configuration.redirectConfiguration = .disallow
    configuration.httpVersion = .http1Only
    // A second reply to one request would otherwise count as the reply to the next one.
    configuration.maximumUsesPerConnection = 1
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
      Self.connectionsPerServer
    // Failures go to the schedule at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(configuration: configuration)
    self.timeLimit = timeLimit
  }

  func shutDown() async throws { try await client.shutdown() }

  /// Posts a webhook once.
  ///
  /// - Returns: `nil` if the task was cancelled before the server replied.
  func post(_ body: [UInt8], to url: WebhookURL, signature: WebhookSignature) async
    -> WebhookOutcome?
  {
    var request = HTTPClientRequest(url: url.text)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "permission-relay-gateway")
    request.headers.add(name: "connection", value: "close")
    for (name, value) in signature.headers { request.headers.add(name: name, value: value) }
    request.body = .bytes(body)
    let start = ContinuousClock.now
    do {
      let response = try await client.execute(request, timeout: .milliseconds(timeLimit.count))
      await drop(response.body, until: start + .milliseconds(timeLimit.count))
      return .replied(
        status: Int(response.status.code), retryAfter: response.headers.first(name: "retry-after"))
    } catch {
      return Task.isCancelled ? nil : WebhookOutcome(error)
    }
  }

  /// Reads a reply's body up to a limit, so that most servers see the end of their reply.
  private func drop(_ body: HTTPClientResponse.Body, until deadline: ContinuousClock.Instant) async
  {
    await withTaskGroup { group in
      group.addTask {
        var bytes = 0
        do {
          for try await part in body {
            bytes += part.readableBytes
            if bytes >= WebhookSchedule.longestReply { break }
          }
        } catch {
          // The status has decided, and the body means nothing.
        }
      }
      group.addTask { try? await Task.sleep(until: deadline) }
      await group.next()
      group.cancelAll()
    }
  }
}

extension WebhookOutcome {
  /// The outcome of an attempt without a reply. Texts of errors may name addresses, so the reason
  /// has none.
  fileprivate init(_ error: any Error) {
    switch error as? HTTPClientError {
    case .some(.deadlineExceeded), .some(.connectTimeout), .some(.readTimeout),
      .some(.getConnectionFromPoolTimeout), .some(.tlsHandshakeTimeout):
      self = .timedOut
    case .some(.remoteConnectionClosed):
      self = .failed("the server closed the connection without a reply")
    default:
      let type = String(describing: Swift.type(of: error))
      self = .failed(
        type.contains("SSL")
          ? "TLS failed: the server's certificate is not valid for its name"
          : "no connection to the server (\(type))")
    }
  }
}
