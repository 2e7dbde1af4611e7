import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1
import NIOPosix
import PermissionKit
import Synchronization

/// What the Landmarks app tells its own server, for the web site.
struct Report: Codable {
  var question: PermissionQuestion<CommunicationTopic>
  var choice: PermissionChoice
}

/// The app's way to its server.
struct Webhook {
  struct Refused: Error {}
  let url: URL

  func send(_ report: Report) async throws {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = try JSONEncoder().encode(report)
    let (_, response) = try await URLSession.shared.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw Refused() }
  }
}

/// The app's server: it keeps what comes, and refuses the first request all the same.
final class OwnServer: Sendable {
  private let bodies = Mutex<[Data]>([])

  var reports: [Report] {
    get throws {
      try bodies.withLock { $0 }.map { try JSONDecoder().decode(Report.self, from: $0) }
    }
  }

  /// Serves until the process ends.
  func start() async throws -> Webhook {
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler(server: self))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return Webhook(url: URL(string: "http://127.0.0.1:\(channel.localAddress!.port!)")!)
  }

  /// Keeps the body; gives the status.
  private func take(_ body: Data) -> HTTPResponseStatus {
    bodies.withLock { bodies in
      bodies.append(body)
      return bodies.count == 1 ? .serviceUnavailable : .ok
    }
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private let server: OwnServer
    private var body = Data()

    init(server: OwnServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head: body.removeAll()
      case .body(let part): body += part.readableBytesView
      case .end:
        let head = HTTPResponseHead(
          version: .http1_1, status: server.take(body), headers: ["content-length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      }
    }
  }
}
