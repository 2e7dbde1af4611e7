import NIOCore
import NIOHTTP1
import NIOPosix
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
  }

  struct Request: Sendable {
    var headers: HTTPHeaders
    var body: String
    var id: String { headers.first(name: "webhook-id") ?? "" }
    var timestamp: Int64 { headers.first(name: "webhook-timestamp").flatMap(Int64.init) ?? 0 }
  }

  struct State: Sendable {
    var requests: [Request] = []
    var connections = 0
    var open = 0
  }

  private let state = Mutex(State())
  private let script: @Sendable (Int) -> Reply
  private let port = Mutex(0)

  /// - Parameter script: The reply to the request with this number, from 0.
  init(script: @escaping @Sendable (Int) -> Reply) async throws {
    self.script = script
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false)
          try channel.pipeline.syncOperations.addHandler(Handler(receiver: self))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port.withLock { $0 = channel.localAddress?.port ?? 0 }
  }

  var origin: String { "http://127.0.0.1:\(port.withLock { $0 })" }
  var seen: State { state.withLock { $0 } }
  var ids: [String] { seen.requests.map(\.id) }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private let receiver: WebhookReceiver
    private var request = Request(headers: [:], body: "")

    init(receiver: WebhookReceiver) { self.receiver = receiver }

    func channelActive(context: ChannelHandlerContext) {
      receiver.state.withLock {
        $0.connections += 1
        $0.open += 1
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      receiver.state.withLock { $0.open -= 1 }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): request = Request(headers: head.headers, body: "")
      case .body(let part): request.body += String(buffer: part)
      case .end:
        let number = receiver.state.withLock { state in
          state.requests.append(request)
          return state.requests.count - 1
        }
        reply(receiver.script(number), context)
      }
    }

    private func reply(_ reply: Reply, _ context: ChannelHandlerContext) {
      switch reply {
      case .status(let status, let headers): head(status, headers, context)
      case .silence: break
      case .close: context.close(promise: nil)
      case .twice(let first, let second):
        head(first, [], context)
        head(second, [], context)
      case .endless:
        let head = HTTPResponseHead(version: .http1_1, status: .ok)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        writeForever(context)
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

    private func writeForever(_ context: ChannelHandlerContext) {
      let part = ByteBuffer(repeating: 65, count: 4_096)
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part)))).whenSuccess {
        // The future completes within the write, and a loop of writes would block its thread.
        bound.value.1.eventLoop.execute { bound.value.0.writeForever(bound.value.1) }
      }
    }
  }
}
