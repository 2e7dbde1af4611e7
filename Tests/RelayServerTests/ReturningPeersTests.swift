import FamilyModel
import RelayFixture
import RelayServer
import Testing
import ZeroMQ

/// The sockets of many devices while their relay is away, and after it is back.
///
/// Scale: 60 sockets and 2 seconds, instead of 20,000 sockets and 30 seconds.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReturningPeersTests {
  private static let families: ClosedRange<UInt64> = 2...61

  @Test("O8: sockets retry an absent relay at growing delays, and are served once after its return")
  func away() async throws {
    var (fixture, _, organizers) = try await RelayFixture.withFamilies(Self.families)
    let context = try Context()
    let herd = try Self.families.map { family in
      try fixture.peer(family, 10, organizers[family], in: context) { $0.spreadReconnects() }
    }
    for peer in herd {
      try peer.attach()
      let failures = try peer.takeFailures()
      #expect(failures.handshakes == 0 && failures.delays.isEmpty)
    }
    try await fixture.stop()
    try await Task.sleep(for: .seconds(2))
    // The requests wait in the sockets.
    for peer in herd { try peer.send(.attach([])) }
    let delays = try herd.map { try $0.takeFailures().delays }
    #expect(delays.allSatisfy { !$0.isEmpty })
    // Constant delays would allow more attempts. The delays of agents grow beyond a second.
    #expect(delays.joined().count <= 10 * herd.count)
    #expect(delays.joined().max()! > .milliseconds(1_300))
    fixture = try await RelayFixture(in: fixture.folder)
    for peer in herd {
      guard let reply = try peer.receive(), case .attached = reply.reply else {
        Issue.record("no reply")
        break
      }
      #expect(reply.device == peer.address)
      #expect(try peer.takeFailures().handshakes == 0)
    }
    let counters = await fixture.service.counters
    #expect(counters.requests == herd.count && counters.familyLoads == herd.count)
    try await fixture.stop()
  }
}
