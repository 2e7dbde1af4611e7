import RelayServer
import RelayFixture
import FamilyModel
import Foundation
import TestThreads
import Testing
import ZeroMQ

/// Attacks by strangers and by a family over TCP, while another family is served.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HostileTests {
  /// Runs the attack on its own threads until it ends. Meanwhile every post of the child is
  /// accepted.
  private func during(
    _ fixture: RelayFixture, _ child: Peer, attackers: Int = 1,
    _ attack: @escaping @Sendable (_ attacker: Int) throws -> Void
  ) async throws {
    let attacks = (0..<attackers).map { number in
      Task.detached(executorPreference: OwnThread()) { try attack(number) }
    }
    var posts = 0
    let isOver = Flag()
    let watcher = Task {
      for attack in attacks { _ = await attack.result }
      isOver.set()
    }
    while !isOver.isSet || posts < 20 {
      let id = CommandID.next
      let post = Request.command(id, .post(child: PersonID(3), .text("\(posts)")))
      guard case .accepted(id, _) = try child.ask(post) else {
        Issue.record("the relay did not accept post \(posts)")
        break
      }
      posts += 1
      try await Task.sleep(for: .milliseconds(5))
    }
    await watcher.value
    for attack in attacks { try await attack.value }
  }

  /// Waits until the relay has closed a connection.
  ///
  /// - Returns: The number of closed connections.
  private func closedConnections(_ fixture: RelayFixture) async throws -> Int {
    _ = try await poll { await fixture.service.counters.closedConnections > 0 }
    return await fixture.service.counters.closedConnections
  }

  @Test("X2: a device that floods requests gets a problem with a retry time")
  func tooManyRequests() async throws {
    let fixture = try await RelayFixture(overTCP: true)
    let (pairs, others) = (try fixture.createFamily(1), try fixture.createFamily(2))
    let child = try fixture.peer(1, 30, pairs[30])
    try await during(fixture, child, attackers: 2) { number in
      let flood = try fixture.peer(2, [30, 40][number], others[[30, 40][number]])
      for _ in 0..<12_000 { try flood.send(.ping) }
      var waits: Set<Bool> = []
      while waits.isEmpty, let reply = try flood.receive() {
        // A slow relay admits more requests, because its rate limits refill meanwhile.
        guard case .failed(let problem) = reply.reply else {
          try flood.send(.ping)
          continue
        }
        #expect(problem.code == 502)
        waits.insert(problem.retryAfter > .zero && problem.retryAfter <= .minutes(1))
      }
      #expect(waits == [true])
    }
    try await fixture.stop()
  }

  @Test("X2: guessed families neither flood the store nor evict real families")
  func guessing() async throws {
    let fixture = try await RelayFixture(maxFamilies: 8, overTCP: true)
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let before = await fixture.service.counters.familyLoads
    let guesses = 6_000
    try await during(fixture, child) { _ in
      let stranger = try fixture.peer(0, 0, nil)
      var answers: [UInt16: Int] = [:]
      for family in 0..<guesses {
        try stranger.sendRaw([[], stranger.guess(UInt64(family) + 1_000)])
      }
      for _ in 0..<guesses {
        guard case .failed(let problem) = try stranger.receive()?.reply else { break }
        answers[problem.code, default: 0] += 1
      }
      #expect(answers.keys.sorted() == [Problem.notEnrolled.code, Problem.overloaded.code])
      #expect(answers.values.reduce(0, +) == guesses)
    }
    let loads = await fixture.service.counters.familyLoads - before
    #expect(loads < guesses)
    try await fixture.stop()
  }

  @Test(
    "X2: after a restart under a flood of guesses, a device with a pass attaches with one request")
  func restartUnderFlood() async throws {
    var fixture = try await RelayFixture(maxFamilies: 8, overTCP: true)
    let families: [UInt64] = [1, 2, 3, 4, 5, 6]
    var pairs: [UInt64: CurveKeyPair] = [:]
    var passes: [UInt64: [UInt8]] = [:]
    for family in families {
      pairs[family] = try fixture.createFamily(family)[30]
      let child = try fixture.peer(family, 30, pairs[family])
      try child.attach()
      #expect(child.pass.count == 32)
      passes[family] = child.pass
    }
    try await fixture.stop()
    fixture = try await RelayFixture(in: fixture.folder, maxFamilies: 8, overTCP: true)
    let stranger = try fixture.peer(0, 0, nil)
    for family in 0..<6_000 { try stranger.sendRaw([[], stranger.guess(UInt64(family) + 1_000)]) }
    var isEmpty = false
    while !isEmpty, case .failed(let problem) = try stranger.receive()?.reply {
      isEmpty = problem.code == Problem.overloaded.code
    }
    #expect(isEmpty)
    let (isOver, relay) = (Flag(), fixture)
    let flood = Task.detached(executorPreference: OwnThread()) {
      let stranger = try relay.peer(0, 0, nil)
      var family: UInt64 = 10_000
      while !isOver.isSet {
        for _ in 0..<20 { try stranger.sendRaw([[], stranger.guess(family)]) }
        family += 1
        usleep(2_000)
      }
    }
    for family in families {
      let child = try fixture.peer(family, 30, pairs[family])
      child.pass = passes[family] ?? []
      guard case .attached = try child.ask(.attach([])) else {
        Issue.record("family \(family) was not served at its first request")
        continue
      }
    }
    isOver.set()
    try await flood.value
    try await fixture.stop()
  }

  @Test("X2: an endless message is cut off before it exhausts the memory")
  func endlessMessage() async throws {
    let fixture = try await RelayFixture(overTCP: true)
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    try await during(fixture, child, attackers: 2) { _ in
      let stranger = try fixture.peer(1, 10, nil)
      // The socket is never closed: libzmq 4.3.4 aborts (session_base.cpp:260) when a socket is
      // closed while a multipart message is half sent on a dying connection.
      _ = Unmanaged.passRetained(stranger)
      let part = Array(repeating: UInt8(7), count: Limits.frameBytes / 2)
      for _ in 0..<6 { try? stranger.sendRaw(Array(repeating: part, count: 64)) }
      usleep(500_000)
    }
    #expect(try await closedConnections(fixture) > 0)
    try await fixture.stop()
  }

  @Test("X2: a flood of subscriptions is cut off, an oversized one at once")
  func subscriptionFlood() async throws {
    let fixture = try await RelayFixture(overTCP: true)
    let pairs = try fixture.createFamily(1)
    let (guardian, child) = (try fixture.peer(1, 10, pairs[10]), try fixture.peer(1, 30, pairs[30]))
    try guardian.attach()
    try await during(fixture, child, attackers: 2) { number in
      let attacker = try Attacker(fixture)
      if number == 0 { try attacker.send([[1] + Array(repeating: 0, count: 100_000)]) }
      var source = IDSource(seed: UInt64(number))
      for round in 0..<100_000 {
        let topic = ID128(high: source.next(), low: source.next()).bytes
        try attacker.send([[1] + topic])
        if round % 1_000 == 0 { usleep(10_000) }
      }
    }
    #expect(try await closedConnections(fixture) > 0)
    #expect(try guardian.event() != nil)
    try await fixture.stop()
  }

  @Test("X2: silent and slow connections do not keep others out")
  func slowConnections() async throws {
    let fixture = try await RelayFixture(overTCP: true, maxConnections: 50)
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    try child.attach()
    try await during(fixture, child) { _ in
      let silent = try (0..<400).map { _ in try RawConnection(fixture.requests) }
      for byte in Array("\u{00FF}\0\0\0\0\0\0\0\u{7F}".unicodeScalars) {
        for connection in silent { connection.send(UInt8(byte.value)) }
        usleep(50_000)
      }
    }
    #expect(try await closedConnections(fixture) >= 300)
    let newcomer = try fixture.peer(1, 10, pairs[10])
    try newcomer.attach()
    try await fixture.stop()
  }

  @Test("X2: a reconnect storm of new keys does not keep others out") func reconnectStorm()
    async throws
  {
    let fixture = try await RelayFixture(overTCP: true)
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    try await during(fixture, child, attackers: 3) { number in
      for round in 0..<60 {
        let stranger = try fixture.peer(UInt64(round), 10, nil)
        try stranger.send(.attach([]))
        if round % 3 == number {
          #expect(try stranger.receive()?.reply == .failed(.notEnrolled))
        }
      }
    }
    try await fixture.stop()
  }
}

private final class Flag: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false
  func set() { lock.withLock { value = true } }
  var isSet: Bool { lock.withLock { value } }
}

/// A plain TCP connection.
private final class RawConnection {
  private let descriptor: Int32

  init(_ endpoint: String) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(endpoint.split(separator: ":").last!)!.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Problem.notEnrolled }
  }

  func send(_ byte: UInt8) {
    var byte = byte
    _ = Glibc.send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL))
  }

  deinit { close(descriptor) }
}
