import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// A server of webhooks on 127.0.0.1 that misbehaves as its script says.
final class WebhookReceiver: Sendable {
  enum Reply: Sendable {
    case status(Int, [(String, String)] = [])
    /// No reply: the connection stays open.
    case silence
    /// The server has read the body and closes the connection.
    case close
    /// Two replies to one request.
    case twice(Int, Int)
    /// A body without an end.
    case endless
    /// Bytes that need be no HTTP, on a connection that stays open or is closed then.
    case raw(String, closes: Bool)
    /// A status after ``WebhookReceiver/release()``.
    case held(Int)

    /// Whether the server tells the sender that it has the event.
    var accepts: Bool {
      switch self {
      case .status(let status, _), .twice(let status, _), .held(let status):
        200...299 ~= status
      case .endless: true
      case .raw(let text, _): text.hasPrefix("HTTP/1.1 20")
      case .silence, .close: false
      }
    }
  }

  struct Request: Sendable {
    var headers: HTTPHeaders
    var body: String
    var isAccepted = false
    var id: String { headers.first(name: "webhook-id") ?? "" }
    var timestamp: Int64 { headers.first(name: "webhook-timestamp").flatMap(Int64.init) ?? 0 }
  }

  struct State: Sendable {
    var requests: [Request] = []
    var connections = 0
    var open = 0
    /// Bytes of bodies without an end.
    var written = 0
    var isReleased = false
  }

  fileprivate let state = Mutex(State())
  fileprivate let script: @Sendable (Int) -> Reply
  fileprivate let reads: @Sendable () -> Bool
  private let port = Mutex(0)
  private let scheme: String

  /// - Parameters:
  ///   - tls: The server's certificate and key; `nil`: plain HTTP.
  ///   - reads: Whether the server reads a connection that it has just accepted.
  ///   - script: The reply to the request with this number, from 0.
  init(
    tls: TLSConfiguration? = nil, reads: @escaping @Sendable () -> Bool = { true },
    script: @escaping @Sendable (Int) -> Reply
  ) async throws {
    self.script = script
    self.reads = reads
    scheme = tls == nil ? "http" : "https"
    let context = try tls.map { try NIOSSLContext(configuration: $0) }
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
          try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
          try pipeline.addHandler(WebhookHandler(receiver: self))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port.withLock { $0 = channel.localAddress?.port ?? 0 }
  }

  var origin: String { "\(scheme)://127.0.0.1:\(port.withLock { $0 })" }
  var seen: State { state.withLock { $0 } }
  var ids: [String] { seen.requests.map(\.id) }
  /// The numbers of the events in the requests, in order.
  var numbers: [String] { ids.map { String($0.split(separator: "_").last ?? "") } }

  /// Sends the held reply.
  func release() { state.withLock { $0.isReleased = true } }
}

private final class WebhookHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart
  private let receiver: WebhookReceiver
  private var request = WebhookReceiver.Request(headers: [:], body: "")

  init(receiver: WebhookReceiver) { self.receiver = receiver }

  func channelActive(context: ChannelHandlerContext) {
    let reads = receiver.reads()
    receiver.state.withLock {
      $0.connections += 1
      $0.open += 1
    }
    guard reads else { return }
    _ = context.channel.setOption(.autoRead, value: true)
  }

  func channelInactive(context: ChannelHandlerContext) {
    receiver.state.withLock { $0.open -= 1 }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): request = .init(headers: head.headers, body: "")
    case .body(let part): request.body += String(buffer: part)
    case .end:
      let number = receiver.state.withLock { state in
        state.requests.append(request)
        return state.requests.count - 1
      }
      reply(receiver.script(number), to: number, context)
    }
  }

  private func reply(
    _ reply: WebhookReceiver.Reply, to number: Int, _ context: ChannelHandlerContext
  ) {
    if case .held(let status) = reply {
      return whenReleased(context) { $0.reply(.status(status), to: number, $1) }
    }
    if reply.accepts { receiver.state.withLock { $0.requests[number].isAccepted = true } }
    switch reply {
    case .status(let status, let headers): head(status, headers, context)
    case .silence, .held: break
    case .close: context.close(promise: nil)
    case .twice(let first, let second):
      head(first, [], context)
      head(second, [], context)
    case .endless:
      let head = HTTPResponseHead(version: .http1_1, status: .ok)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      writeForever(context)
    case .raw(let text, let closes):
      // The write starts below the encoder of HTTP.
      let encoder = try? context.pipeline.syncOperations.context(
        handlerType: HTTPResponseEncoder.self)
      encoder?.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
      if closes { context.close(promise: nil) }
    }
  }

  private func head(
    _ status: Int, _ headers: [(String, String)], _ context: ChannelHandlerContext
  ) {
    let head = HTTPResponseHead(
      version: .http1_1, status: .init(statusCode: status),
      headers: HTTPHeaders([("content-length", "0")] + headers))
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  private func whenReleased(
    _ context: ChannelHandlerContext,
    _ body: @escaping @Sendable (WebhookHandler, ChannelHandlerContext) -> Void
  ) {
    let isReleased = receiver.state.withLock { state in
      defer { state.isReleased = false }
      return state.isReleased
    }
    guard !isReleased else { return body(self, context) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: .milliseconds(2)) {
      bound.value.0.whenReleased(bound.value.1, body)
    }
  }

  private func writeForever(_ context: ChannelHandlerContext) {
    let part = ByteBuffer(repeating: 65, count: 4_096)
    receiver.state.withLock { $0.written += part.readableBytes }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part)))).whenSuccess {
      // The future completes within the write, and a loop of writes would block its thread.
      bound.value.1.eventLoop.execute { bound.value.0.writeForever(bound.value.1) }
    }
  }
}
