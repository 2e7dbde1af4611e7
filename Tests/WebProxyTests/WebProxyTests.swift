import Foundation
import NIOCore
import NIOPosix
import PermissionKitTesting
import Subprocess
import SystemPackage
import Testing

@testable import web_proxy

@Suite(.timeLimit(.minutes(10))) struct WebProxyTests {
  private let family = TestFamily()
  private typealias Connection = WebProxy.Connection

  private static func wrap(_ channel: any Channel) -> EventLoopFuture<Connection> {
    channel.eventLoop.makeCompletedFuture {
      try NIOAsyncChannel(wrappingChannelSynchronously: channel)
    }
  }

  /// Runs a site that repeats its first bytes and, for a page, then closes; and the proxy.
  private func run(
    _ body: @escaping @Sendable (_ site: Int, _ proxy: Int) async throws -> Void
  ) async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0) { Self.wrap($0) }
    let site = try #require(server.channel.localAddress?.port)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await server.executeThenClose { clients in
          for try await client in clients {
            try? await client.executeThenClose { inbound, outbound in
              for try await part in inbound {
                let isPage = part.getString(at: 0, length: 3) == "GET"
                if isPage {
                  try await outbound.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"))
                }
                try await outbound.write(part)
                if isPage { break }
              }
            }
          }
        }
      }
      let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
      group.addTask { try await WebProxy().run(port: 0) { continuation.yield($0) } }
      for await port in ports {
        try await body(site, port)
        break
      }
      group.cancelAll()
      while let result = await group.nextResult() { _ = result }
    }
  }

  /// Sends the text to the proxy, and returns the reply until its end. Repeats the text until the
  /// device, which may be slow, has answered about its site.
  private func send(_ text: String, to port: Int) async throws -> String {
    while true {
      let reply = try await exchange(text, with: port)
      if !Self.isUnknown(reply) { return reply }
    }
  }

  private static func isUnknown(_ reply: String) -> Bool { reply.contains("has not answered") }

  private func exchange(_ text: String, with port: Int) async throws -> String {
    try await connect(port).executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(string: text))
      var reply = ""
      for try await part in inbound { reply += String(buffer: part) }
      return reply
    }
  }

  private func connect(_ port: Int) async throws -> Connection {
    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { Self.wrap($0) }
  }

  @Test(
    "S5: a browser behind the proxy sees a page after a guardian's approval, and no page before")
  func page() async throws {
    await family.organizer.setWebRules(.block, sites: ["127.0.0.1": .ask])
    let family = family
    try await family.app {
      try await run { site, proxy in
        let request = "GET http://127.0.0.1:\(site)/page HTTP/1.1\r\nHost: evil.example\r\n\r\n"
        let blocked = try await send(request, to: proxy)
        #expect(
          blocked.hasPrefix("HTTP/1.1 403 Blocked\r\n") && blocked.contains("ask your guardians"))
        while await family.organizer.answer(.approve) == 0 { await Task.yield() }
        var reply = blocked
        while reply == blocked { reply = try await send(request, to: proxy) }
        #expect(reply.hasPrefix("HTTP/1.1 200 OK\r\n\r\nGET /page HTTP/1.1\r\n"))
        #expect(reply.contains("Host: 127.0.0.1:\(site)\r\n") && !reply.contains("evil"))
        let other = try await send("CONNECT other.example:443 HTTP/1.1\r\n\r\n", to: proxy)
        #expect(other.hasPrefix("HTTP/1.1 403") && other.contains("do not allow"))
        #expect(try await send("GET /page HTTP/1.1\r\n\r\n", to: proxy).hasPrefix("HTTP/1.1 400"))
      }
    }
  }

  private static let chromium = "/usr/bin/chromium"

  /// The document that headless Chromium shows behind the proxy, after the device's answer.
  private func document(of address: String, behind proxy: Int) async throws -> String {
    while true {
      let document = try await load(address, behind: proxy)
      // A browser on a busy machine may show nothing.
      let isEmpty = !document.contains("<h1>") && !document.contains("GET")
      if !isEmpty, !Self.isUnknown(document) { return document }
    }
  }

  private func load(_ address: String, behind proxy: Int) async throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "chromium-\(UUID().uuidString.prefix(8))")
    defer { try? FileManager.default.removeItem(at: folder) }
    let result = try await Subprocess.run(
      .path(FilePath(Self.chromium)),
      arguments: [
        "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.path)",
        "--proxy-server=http://127.0.0.1:\(proxy)", "--proxy-bypass-list=<-loopback>", "--dump-dom",
        address,
      ], input: .none, output: .string(limit: 65_536), error: .discarded)
    return result.standardOutput
  }

  @Test(
    "S5: headless Chromium shows a page after a guardian's approval, and no page before",
    .enabled(if: FileManager.default.isExecutableFile(atPath: Self.chromium)))
  func browser() async throws {
    await family.organizer.setWebRules(.block, sites: ["127.0.0.1": .ask])
    let family = family
    try await family.app {
      try await run { site, proxy in
        let address = "http://127.0.0.1:\(site)/page"
        let blocked = try await document(of: address, behind: proxy)
        #expect(
          blocked.contains("ask your guardians") && !blocked.contains("GET /page"), "\(blocked)")
        while await family.organizer.answer(.approve) == 0 { await Task.yield() }
        var open = blocked
        while open == blocked { open = try await document(of: address, behind: proxy) }
        #expect(open.contains("GET /page"), "\(open)")
      }
    }
  }

  @Test("S5: a tunnel carries bytes until a guardian blocks its site")
  func tunnel() async throws {
    let family = family
    try await family.app {
      try await run { site, proxy in
        try await connect(proxy).executeThenClose { inbound, outbound in
          var input = inbound.makeAsyncIterator()
          try await outbound.write(
            ByteBuffer(string: "CONNECT 127.0.0.1:\(site) HTTP/1.1\r\n\r\nhello"))
          var reply = ""
          while !reply.hasSuffix("hello"), let part = try await input.next() {
            reply += String(buffer: part)
          }
          #expect(reply == "HTTP/1.1 200 Connection established\r\n\r\nhello")
          try await outbound.write(ByteBuffer(string: "more"))
          #expect(try await input.next().map { String(buffer: $0) } == "more")
          await family.organizer.setWebRules(.block)
          #expect(try await input.next() == nil)
        }
      }
    }
  }
}
