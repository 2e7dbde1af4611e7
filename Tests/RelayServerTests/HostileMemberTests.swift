import FamilyModel
import RelayFixture
import RelayWire
import Testing
import ZeroMQ

/// Hostile devices of a family against a relay process whose memory has a total. The bytes that wait are
/// counted, the devices are refused or cut, and another family is served.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostileMemberTests {
  private static let organizer: [UInt32] = Array(10...17)
  private static let child: [UInt32] = Array(30...37)
  private static let conversation = Audience.conversation(Siege.child)
  /// Bytes that the relay must have counted: far above those of honest devices.
  private static let countedBytes = 8 << 20

  private func ask(_ count: Int, _ peer: Peer) throws {
    for _ in 0..<count {
      let reply = try peer.ask(.largeQuestion())
      guard case .accepted? = reply else {
        Issue.record("the question was refused: \(String(describing: reply))")
        return
      }
    }
  }

  private func fetch(_ readers: [Peer]) throws {
    for reader in readers {
      for _ in 0..<4 { try reader.send(.fetch(Self.conversation, after: 1)) }
    }
  }

  /// Posts texts that are broadcast as a whole, and receives the replies.
  private func post(_ posters: [Peer]) throws {
    let text = Content.sealed([UInt8](repeating: 7, count: 6 << 10))
    let count = 25
    for poster in posters {
      for _ in 0..<count { try poster.send(.command(.next, .post(child: Siege.child, text))) }
    }
    for poster in posters {
      for _ in 0..<count { _ = try poster.receive() }
    }
  }

  @Test("O4: devices of a family that fetch without reading leave the relay below its total")
  func pages() async throws {
    let devices = Self.organizer + Self.child
    let siege = try Siege(devices: devices)
    defer { siege.relay.stop() }
    try ask(2, siege.member(30))
    let readers = try devices.map { try siege.stoppedMember($0) }
    try siege.attack(rounds: 20) { try fetch(readers) }
    // The pages of the last rounds are read meanwhile.
    #expect(try await poll { try siege.hasRefusedPages() })
    siege.expectBounds()
    #expect(siege.peak.unsent > Self.countedBytes)
    #expect(try siege.isCutOrRefused(readers[0], with: .overloaded, .tooFast(retryAfter: .zero)))
  }

  @Test("O4: subscribers that stop reading while others post leave the relay below its total")
  func subscribers() throws {
    let devices = Self.organizer + Self.child
    let siege = try Siege(devices: devices)
    defer { siege.relay.stop() }
    let posters = try [10, 30].map { try siege.member($0) }
    let stopped = try devices.filter { $0 % 10 > 0 }.map { try siege.stoppedMember($0) }
    for subscriber in stopped { try subscriber.attach() }
    try siege.attack(rounds: 24) { try post(posters) }
    siege.expectBounds()
    #expect(siege.peak.unsent > Self.countedBytes)
    #expect(try siege.count("droppedBroadcasts") > 0)
    // A subscriber fetches what it has missed.
    let page = try stopped[0].ask(.fetch(Self.conversation, after: 1))
    guard case .page(_, let events, _)? = page else {
      Issue.record("the page was refused: \(String(describing: page))")
      return
    }
    #expect(events.first?.seq == 2)
  }

  @Test("O4: devices that send the largest commands at their limit leave the relay below its total")
  func largestCommands() throws {
    let siege = try Siege(limit: 512 << 20, devices: [10] + Self.child)
    defer { siege.relay.stop() }
    let askers = try Self.child.prefix(3).map { try siege.member($0) }
    for asker in askers {
      // Three fifths of the burst, so that the largest commands reach the limit.
      for _ in 0..<312 { try asker.send(.fetch(.family, after: 1)) }
      #expect(try siege.problems(for: asker, in: 312) == [])
    }
    var problems: Set<UInt16> = []
    try siege.attack(rounds: 7) {
      // Fewer bytes than those in flight, so that no backlog sheds questions.
      for asker in askers {
        for _ in 0..<5 { try asker.send(.largeQuestion(bytes: 900 << 10)) }
      }
      for asker in askers { problems.formUnion(try siege.problems(for: asker, in: 5)) }
    }
    siege.expectBounds()
    #expect(problems == [Problem.tooFast(retryAfter: .zero).code])
  }

  @Test("O4: devices that attach without end are refused and leave the relay below its total")
  func attachments() throws {
    let devices = Array(Self.organizer.prefix(4) + Self.child.prefix(4))
    let siege = try Siege(devices: devices)
    defer { siege.relay.stop() }
    let peers = try devices.map { try siege.stoppedMember($0) }
    try siege.attack(rounds: 16) {
      for peer in peers {
        for _ in 0..<100 { try peer.send(.attach([])) }
      }
    }
    siege.expectBounds()
    for peer in peers.prefix(2) {
      #expect(try siege.isCutOrRefused(peer, with: .tooFast(retryAfter: .zero)))
    }
  }

  @Test("O4: strangers and devices of a family together leave the relay below its total")
  func together() async throws {
    let devices = Self.organizer + Self.child
    let siege = try Siege(limit: 512 << 20, devices: devices)
    defer { siege.relay.stop() }
    try ask(2, siege.member(30))
    let posters = try [10, 30].map { try siege.member($0) }
    let readers = try Self.organizer.map { try siege.stoppedMember($0) }
    for reader in readers { try reader.attach() }
    let strangers = try (0..<4).map { _ in try siege.relay.client() }
    let part = [UInt8](repeating: 7, count: Limits.frameBytes - 1_024)
    let flood = Multipart([[], part], maximumParts: 2)
    try siege.attack(rounds: 16) {
      for stranger in strangers {
        for _ in 0..<8 where try stranger.socket.send(flood) != .sent { break }
      }
      try fetch(readers)
      try post(posters)
    }
    #expect(try await poll { try siege.hasRefusedPages() })
    siege.expectBounds()
    #expect(siege.peak.unsent > Self.countedBytes)
    #expect(try siege.count("closedConnections") > 0)
  }
}
