import FamilyModel
import RelayFixture
import RelayWire
import Testing
import ZeroMQ

/// A relay process whose memory has a total, under attack by its family 1, with an honest family 2: a
/// child that posts, and a guardian that receives the broadcasts.
final class Siege {
  /// Growth of the process between two of its looks at the memory and the connections.
  private static let slack = 32 << 20
  static let child = PersonID(3)

  let relay: RelayProcess
  private let limit: Int
  private let pairs: [UInt32: CurveKeyPair]
  private let honest: Peer
  private let guardian: Peer
  /// The most bytes that the relay has counted after a part of the attack.
  private(set) var peak = (unsent: 0, unread: 0, inFlight: 0)

  /// - Parameter devices: The devices of family 1: from 10 on the organizer's, from 30 on the child's.
  init(limit: Int = 256 << 20, devices: [UInt32]) throws {
    self.limit = limit
    relay = try RelayProcess(overTCP: true, limit: limit)
    pairs = try relay.createFamily(1, devices: devices)
    let others = try relay.createFamily(2)
    honest = try relay.peer(2, 30, others[30])
    guardian = try relay.peer(2, 10, others[10])
    try guardian.attach()
    // The first broadcast shows that the relay has the subscription.
    _ = try #require(try guardian.broadcast())
  }

  /// A device of family 1 whose connection is proven.
  func member(_ device: UInt32) throws -> Peer {
    let peer = try relay.peer(1, device, pairs[device])
    // The first message may arrive before the relay knows the connection.
    for _ in 1...2 { _ = try peer.ask(.ping) }
    return peer
  }

  /// A device of family 1 whose sockets receive hardly anything before the test reads from them.
  func stoppedMember(_ device: UInt32) throws -> Peer {
    try relay.peer(1, device, pairs[device], receiveQueue: 1)
  }

  /// Repeats a part of an attack. After each one, a command of the honest family must be accepted and
  /// broadcast.
  func attack(rounds: Int, _ part: () throws -> Void) throws {
    for round in 1...rounds {
      try part()
      let id = CommandID.next
      guard case .accepted(id, let seq)? = try honest.post("\(round)", id: id) else {
        Issue.record("the relay did not accept post \(round) of another family")
        return
      }
      guard try guardian.receives(seq: seq) else {
        Issue.record("the relay did not broadcast post \(round) of another family")
        return
      }
      try recordLevels()
    }
  }

  fileprivate func recordLevels() throws {
    let levels = try relay.statistics().levels
    peak.unsent = max(peak.unsent, levels.unsentBytes ?? 0)
    peak.unread = max(peak.unread, levels.unreadBytes ?? 0)
    peak.inFlight = max(peak.inFlight, levels.bytesInFlight)
  }

  /// Expects that the counted bytes, and the memory of the process, have stayed below the total.
  func expectBounds() {
    let (unsent, unread, inFlight) = peak
    #expect(relay.isRunning)
    #expect(unsent < limit / 4 + Self.slack, "\(unsent >> 20) MB unsent")
    #expect(unread < limit / 8 + Self.slack, "\(unread >> 20) MB unread")
    #expect(inFlight < 16 << 20 + Limits.frameBytes, "\(inFlight >> 20) MB in flight")
    #expect(unsent + unread + inFlight < limit)
    #expect(relay.peakBytes < limit + Self.slack, "\(relay.peakBytes >> 20) MB")
  }

  /// A counter of the relay.
  func count(_ name: String) throws -> Int { try relay.statistics().counters[name] ?? 0 }

  /// The problems in the peer's next replies, each of which has a retry time.
  ///
  /// - Parameter count: The number of replies; `nil`: those that wait.
  func problems(for peer: Peer, in count: Int? = nil) throws -> Set<UInt16> {
    var codes: Set<UInt16> = []
    let time = count == nil ? Nanoseconds.seconds(2) : patience
    for _ in 0..<(count ?? .max) {
      guard let reply = try peer.receive(within: time) else { break }
      switch reply.reply {
      case .failed(let problem), .refused(_, let problem):
        #expect(problem.retryAfter > .zero)
        codes.insert(problem.code)
      default: break
      }
    }
    return codes
  }
}

extension Siege {
  /// Whether the replies that wait for the peer include a refusal, and all of them have these problems. A
  /// relay that has cut connections need not reply.
  func isCutOrRefused(_ peer: Peer, with expected: Problem...) throws -> Bool {
    let codes = try problems(for: peer)
    if codes.isEmpty { return try count("closedConnections") > 0 }
    return codes.isSubset(of: expected.map(\.code))
  }

  /// Whether the relay has refused a page because others wait for its peer. Records the counted bytes.
  func hasRefusedPages() throws -> Bool {
    try recordLevels()
    return try count("refusedPages") > 0
  }
}

extension Request {
  /// A new question of ``Siege/child``, whose content by default nearly fills a page.
  static func largeQuestion(bytes: Int = 400 << 10) -> Request {
    let id = CommandID.next
    let header = QuestionHeader(
      id: QuestionID(high: id.high, low: id.low), child: Siege.child,
      app: AppID("example.landmarks"),
      subjects: Array("\(id)".utf8.suffix(32)),
      choices: [ChoiceHeader(id: "approve", answer: .approval)], expiration: nil)
    return .command(id, .ask(header, .sealed([UInt8](repeating: 7, count: bytes))), nil)
  }
}
