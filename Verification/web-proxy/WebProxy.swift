import Foundation
import NIOCore
import NIOPosix
import ScreenTime
import Synchronization

/// A forward proxy that opens a page only if the child's device allows its site.
struct WebProxy: Sendable {
  typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
  /// Connections of browsers at one time. Above: the newest one is closed.
  private static let connections = 512
  private static let group = MultiThreadedEventLoopGroup.singleton

  private let questions = Questions()
  private let load = Load()

  /// Serves browsers on the loopback address until the task is cancelled.
  ///
  /// - Parameters:
  ///   - port: The port; 0 chooses a free one.
  ///   - ready: Receives the port.
  func run(port: Int, ready: (Int) -> Void) async throws {
    let server = try await ServerBootstrap(group: Self.group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .bind(host: "127.0.0.1", port: port) { Self.wrap($0) }
    ready(server.channel.localAddress?.port ?? port)
    try await withThrowingDiscardingTaskGroup { group in
      try await server.executeThenClose { clients in
        for try await client in clients {
          let isAbove = load.open.withLock { open in
            open += 1
            return open > Self.connections
          }
          group.addTask {
            if isAbove {
              try? await client.channel.close()
            } else {
              try? await serve(client)
            }
            load.open.withLock { $0 -= 1 }
          }
        }
      }
    }
  }

  private static func wrap(_ channel: any Channel) -> EventLoopFuture<Connection> {
    channel.eventLoop.makeCompletedFuture {
      try NIOAsyncChannel(
        wrappingChannelSynchronously: channel,
        configuration: .init(isOutboundHalfClosureEnabled: true))
    }
  }

  private func serve(_ client: Connection) async throws {
    try await client.executeThenClose { inbound, outbound in
      var input = inbound.makeAsyncIterator()
      var received = ByteBuffer()
      var request: ProxyRequest?
      while request == nil, received.readableBytes <= ProxyRequest.headLimit,
        let part = try await input.next()
      {
        received.writeImmutableBuffer(part)
        guard let end = received.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else {
          continue
        }
        let text = received.readString(length: end.lowerBound - received.readerIndex)!
        received.moveReaderIndex(forwardBy: 4)
        request = ProxyRequest(text)
        break
      }
      guard let request else { return try await outbound.write(.page(400, "Bad Request", "")) }
      let page = STWebpageController()
      page.url = request.url
      if await page.isBlocked() {
        guard page.hasAnswer else { return try await outbound.write(.unknown) }
        let isAsked = page.canAsk
        if isAsked { questions.ask(about: page) }
        return try await outbound.write(.blocked(isAsked: isAsked))
      }
      guard let origin = try? await Self.connect(to: request) else {
        return try await outbound.write(.page(502, "Bad Gateway", "The site does not answer."))
      }
      try await origin.executeThenClose { replies, requests in
        if let head = request.head {
          try await requests.write(ByteBuffer(string: head))
        } else {
          try await outbound.write(
            ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
        }
        if received.readableBytes > 0 { try await requests.write(received) }
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            for try await part in replies { try await outbound.write(part) }
            outbound.finish()
          }
          group.addTask {
            for await isBlocked in await page.urlIsBlockedUpdates where isBlocked {
              // An approval has ended, or a guardian has withdrawn it.
              client.channel.close(promise: nil)
              origin.channel.close(promise: nil)
              return
            }
          }
          while let part = try await input.next() { try await requests.write(part) }
          requests.finish()
          try await group.next()
          group.cancelAll()
        }
      }
    }
  }

  private static func connect(to request: ProxyRequest) async throws -> Connection {
    try await ClientBootstrap(group: group)
      .connectTimeout(.seconds(10))
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: request.host, port: request.port) { wrap($0) }
  }
}

/// The connections of browsers.
private final class Load: Sendable {
  let open = Mutex(0)
}

extension ByteBuffer {
  /// A page of the proxy.
  static func page(_ status: Int, _ reason: String, _ text: String) -> ByteBuffer {
    let html = "<!doctype html><title>\(reason)</title><h1>\(reason)</h1><p>\(text)</p>\n"
    return ByteBuffer(
      string: "HTTP/1.1 \(status) \(reason)\r\nContent-Type: text/html; charset=utf-8\r\n"
        + "Content-Length: \(html.utf8.count)\r\nConnection: close\r\n\r\n\(html)")
  }

  /// The page in the place of one whose access is unknown.
  static let unknown = page(
    503, "Blocked", "Your device has not answered about this site. Reload the page.")

  /// The page in the place of a blocked one.
  static func blocked(isAsked: Bool) -> ByteBuffer {
    page(
      403, "Blocked",
      isAsked
        ? "Your device asks whether you want to ask your guardians. Reload after their answer."
        : "Your guardians do not allow this site.")
  }
}
