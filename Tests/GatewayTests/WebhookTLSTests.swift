import Foundation
import SQLiteStore
import Testing

@testable import GatewayServer

/// Webhooks to a server with a certificate.
@Suite(.timeLimit(.minutes(10))) struct WebhookTLSTests {
  private let fixture: WebhookFixture
  init() throws { fixture = try WebhookFixture() }

  private func file(_ text: String) throws -> String {
    let file = fixture.folder.appendingPathComponent("authority.pem")
    try Data(text.utf8).write(to: file)
    return file.path
  }

  @Test("S1: a server whose certificate no authority has signed gets no event")
  func selfSigned() async throws {
    let server = try await WebhookReceiver(tls: try SelfSigned.server()) { _ in .status(200) }
    try fixture.append(1)
    try await fixture.run(server) {
      try fixture.store.nextDelivery(of: fixture.app)?.failures ?? 0 >= 1
    }
    let next = try #require(try fixture.store.nextDelivery(of: fixture.app))
    #expect(next.reason == "TLS failed: the server's certificate is not valid for its name")
    #expect(server.seen.connections >= 1 && server.ids == [])

    // The same server is valid with an authority of the operator.
    let authorities = try WebhookAuthorities(files: [file(SelfSigned.certificate)])
    try await fixture.run(server, authorities: authorities) {
      try fixture.store.queued(of: fixture.app) == 0
    }
    #expect(server.numbers == ["1"])
  }

  @Test("S1: an authority is a PEM file with a certificate")
  func authorities() throws {
    for text in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
      let path = try file(text)
      #expect(throws: WebhookAuthorities.Unreadable(file: path)) {
        try WebhookAuthorities(files: [path])
      }
    }
    #expect(throws: WebhookAuthorities.Unreadable(file: "/none")) {
      try WebhookAuthorities(files: ["/none"])
    }
    #expect(try WebhookAuthorities(files: [file(SelfSigned.certificate)]).certificates.count == 1)
  }
}
