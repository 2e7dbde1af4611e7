import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1
import NIOPosix
import PermissionKit
import Synchronization

/// A decision, as the Landmarks app reports it to its own server.
struct Report: Codable {
  var question: PermissionQuestion<CommunicationTopic>
  var choice: PermissionChoice
}

/// The app's client of its own server.
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

/// The app's own server. The server stores every body and rejects the first request with 503.
final class OwnServer: Sendable {
  private let bodies = Mutex<[Data]>([])

  var reports: [Report] {
    get throws {
      try bodies.withLock { $0 }.map { try JSONDecoder().decode(Report.self, from: $0) }
    }
  }

  /// Binds a local port and serves until the process ends.
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

  /// Stores the body; returns the status of the response.
  private func store(_ body: Data) -> HTTPResponseStatus {
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
          version: .http1_1, status: server.store(body), headers: ["content-length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      }
    }
  }
}
