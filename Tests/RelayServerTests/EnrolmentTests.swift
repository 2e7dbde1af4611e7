import RelayServer
import Credentials
import FamilyCore
import RelayFixture
import FamilyModel
import FamilyTrust
import Foundation
import RelayClient
import SystemClock
import Testing
import ZeroMQ

@Suite(.serialized, .timeLimit(.minutes(10))) struct EnrolmentTests {
  /// A relay with family 1, a client of its organizer, and an invitation for child 3.
  private struct Invited: ~Copyable {
    let fixture: RelayFixture
    let pairs: [UInt32: CurveKeyPair]
    var organizer: DeviceClient
    let ticket = JoinTicket()
    let code: JoinCode

    init(lasting: Milliseconds = .minutes(1)) async throws {
      let fixture = try await RelayFixture()
      let pairs = try fixture.createFamily(1)
      var organizer = try fixture.client(1, 10, .organizer, pairs)
      try organizer.send(
        .invite(ticket.invitation(for: PersonID(3), until: .now + lasting)))
      self.fixture = fixture
      self.pairs = pairs
      code = JoinCode(ticket, from: organizer.credential)
      self.organizer = consume organizer
    }

    /// Adds the device that used the code to the roster, as the guardian's device does.
    mutating func admitDevice() throws {
      let link = try organizer.family().link
      let join = try #require(link.joins.last)
      #expect(join.invitation == ticket.publicKey)
      try organizer.send(.setRoster(link.roster(adding: join, of: PersonID(3))))
    }
  }

  /// Expects that a device with the code is refused like a stranger.
  private func expectRefused(_ code: JoinCode) throws {
    var joining = try Joining(code)
    do {
      _ = try joining.credential()
      Issue.record("a device was admitted")
    } catch let problem as Problem { #expect(problem == .notEnrolled) }
  }

  @Test("F3: a device creates its own keys and joins with a code that works once") func once()
    async throws
  {
    var home = try await Invited()
    let code = try JoinCode(text: home.code.text)
    var joining = try Joining(code)
    #expect(try joining.credential() == nil)
    try expectRefused(code)
    // A repeated request changes nothing.
    #expect(try joining.credential() == nil)
    #expect(try home.organizer.family().link.joins.count == 1)
    try home.admitDevice()
    let credential = try #require(try joining.credential())
    #expect(credential.personID == PersonID(3) && credential.role == .child)
    #expect(credential.name == "P3" && credential.address.device == DeviceID(51))
    var client = try DeviceClient(credential)
    let device = try client.family().link.roster.device(DeviceID(51))
    #expect(device == credential.device)
    try expectRefused(code)
    // A removed device is refused like a stranger.
    let link = try home.organizer.family().link
    try home.organizer.send(.setRoster(link.roster(removing: DeviceID(51))))
    #expect(throws: Problem.notEnrolled) { _ = try joining.credential() }
    try await home.fixture.stop()
  }

  @Test("O11: a join that was killed resumes with the same keys and the same code")
  func resumed() async throws {
    var home = try await Invited()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "join-\(UUID().uuidString.prefix(8))")
    try PrivateFile.createFolder(folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = PendingJoin.file(beside: folder.appendingPathComponent("emily.json"))
    #expect(try PendingJoin(from: file) == nil)
    try PendingJoin(home.code).write(to: file)
    for _ in 1...2 {
      var joining = try Joining(try #require(try PendingJoin(from: file)))
      #expect(try joining.credential() == nil)
    }
    // Other keys with the same code are those of a stranger.
    try expectRefused(home.code)
    #expect(try home.organizer.family().link.joins.count == 1)
    try home.admitDevice()
    let pending = try #require(try PendingJoin(from: file))
    var joining = try Joining(pending)
    let credential = try #require(try joining.credential())
    #expect(credential.name == "P3")
    let listed = try home.organizer.family().link.roster.device(credential.address.device)
    #expect(listed == credential.device)
    try Data("{}".utf8).write(to: file)
    #expect(throws: PrivateFile.Failure.self) { _ = try PendingJoin(from: file) }
    try await home.fixture.stop()
  }

  @Test("F3: an expired code is refused") func expired() async throws {
    let home = try await Invited(lasting: .seconds(5))
    // Expiry is a moment of the wall clock, without an event.
    try await Task.sleep(for: .milliseconds(5_100))
    try expectRefused(home.code)
    try await home.fixture.stop()
  }

  @Test("F3: a code with another secret or family is refused") func wrong() async throws {
    let home = try await Invited()
    _ = try home.fixture.createFamily(2)
    var code = home.code
    code.ticket = JoinTicket()
    try expectRefused(code)
    for family in [FamilyID(2), FamilyID(3)] {
      code = home.code
      code.family = family
      try expectRefused(code)
    }
    try await home.fixture.stop()
  }

  @Test("F3: a join request binds one key, so an eavesdropper cannot replay it") func replayed()
    async throws
  {
    let home = try await Invited()
    let (own, other) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
    let join = home.ticket.join(FamilyID(1), publicKey: own.publicKey.bytes, keys: DeviceKeys())
    let thief = try home.fixture.peer(1, 0, other)
    #expect(try thief.ask(.join(join)) == .failed(.notEnrolled))
    var changed = join
    changed.publicKey = other.publicKey.bytes
    #expect(try thief.ask(.join(changed)) == .failed(.notEnrolled))
    let device = try home.fixture.peer(1, 0, own)
    #expect(try device.ask(.join(join)) == .joined(DeviceID(0)))
    #expect(try device.ask(.join(join)) == .joined(DeviceID(0)))
    #expect(try thief.ask(.join(join)) == .failed(.notEnrolled))
    // A device that waits for a guardian is still refused.
    #expect(try device.ask(.ping) == .failed(.notEnrolled))
    try await home.fixture.stop()
  }

  @Test("X3: a join request is rejected if the relay replaced a key") func swapped()
    async throws
  {
    var home = try await Invited()
    var joining = try Joining(home.code)
    #expect(try joining.credential() == nil)
    let link = try home.organizer.family().link
    let join = try #require(link.joins.last)
    var swapped = join
    swapped.agreementKey = DeviceKeys().agreementKey
    func joins(with event: JoinRequest) throws -> [JoinRequest] {
      let device = try home.fixture.peer(1, 10, home.pairs[10])
      guard case .page(_, var events, _) = try device.ask(.fetch(.family, after: 0)) else {
        return []
      }
      events[events.count - 1].body = .joinRequested(event)
      return home.organizer.credential.machine(restoring: events).link.joins
    }
    #expect(try joins(with: join) == [join])
    #expect(try joins(with: swapped) == [])
    // A relay that signs as the organizer is rejected, because the code contains the organizer's
    // key.
    try home.admitDevice()
    var code = home.code
    code.organizerKey = DeviceKeys().signingKey
    code.ticket = JoinTicket()
    try home.organizer.send(
      .invite(code.ticket.invitation(for: PersonID(3), until: .now + .minutes(1))))
    var deceived = try Joining(code)
    #expect(try deceived.credential() == nil)
    let later = try home.organizer.family().link
    try home.organizer.send(
      .setRoster(later.roster(adding: try #require(later.joins.last), of: PersonID(3))))
    #expect(throws: Problem.notSigned) { _ = try deceived.credential() }
    try await home.fixture.stop()
  }

  @Test("F3: every request of a stranger gets `not enrolled`") func stranger() async throws {
    let home = try await Invited()
    let stranger = try home.fixture.peer(1, 30, nil)
    let requests: [Request] = [
      .ping, .attach([]), .fetch(.family, after: 0), .acknowledge([]),
      .fetch(.conversation(PersonID(3)), after: 0),
      .join(
        JoinTicket().join(
          FamilyID(1), publicKey: try CurveKeyPair.generate().publicKey.bytes, keys: DeviceKeys())),
    ]
    for request in requests { #expect(try stranger.ask(request) == .failed(.notEnrolled)) }
    let invitation = JoinTicket().invitation(for: PersonID(3), until: .now + .seconds(1))
    for command in [Command.post(child: PersonID(3), .text("x")), .invite(invitation)] {
      let id = CommandID.next
      #expect(try stranger.ask(.command(id, command)) == .refused(id, .notEnrolled))
    }
    try await home.fixture.stop()
  }

  @Test("F3: a removed device is refused at once and receives no later broadcast")
  func removed() async throws {
    var home = try await Invited()
    let lost = try home.fixture.peer(1, 40, home.pairs[40])
    try lost.attach()
    while try lost.broadcast(within: .milliseconds(200)) != nil {}
    let link = try home.organizer.family().link
    try home.organizer.send(.setRoster(link.roster(removing: DeviceID(40))))
    #expect(try lost.ask(.ping) == .failed(.notEnrolled))
    // The removal itself is the last broadcast that the device receives.
    while try lost.broadcast(within: .milliseconds(300)) != nil {}
    let child = try home.fixture.peer(1, 30, home.pairs[30])
    _ = try child.post("secret")
    try home.organizer.send(
      .setRoster(try home.organizer.family().link.roster(removing: PersonID(5))))
    #expect(try lost.broadcast(within: .milliseconds(500)) == nil && lost.unopenedCount == 0)
    try await home.fixture.stop()
  }

  @Test("F3: a code survives a round trip as text, and one wrong letter is rejected") func codes()
    throws
  {
    let credential = Credential(
      address: DeviceAddress(family: FamilyID(.max), device: DeviceID(1)), personID: PersonID(1),
      role: .organizer, name: "Rosa", keys: try .generate(), deviceKeys: DeviceKeys(),
      organizerKey: DeviceKeys().signingKey, relayKey: try CurveKeyPair.generate().publicKey,
      requests: "tcp://relay.example:7001", broadcasts: "tcp://relay.example:7002")
    let code = JoinCode(JoinTicket(), from: credential)
    let read = try JoinCode(text: code.text.lowercased().replacingOccurrences(of: "-", with: " "))
    #expect(read.ticket.secret == code.ticket.secret && read.family == code.family)
    #expect(read.organizerKey == code.organizerKey && read.relayKey == code.relayKey)
    #expect(read.requests == code.requests && read.broadcasts == code.broadcasts)
    for index in stride(from: 0, to: code.text.count, by: 7) {
      var letters = Array(code.text)
      letters[index] = letters[index] == "A" ? "B" : "A"
      let isSame = String(letters).filter { $0 != "-" } == code.text.filter { $0 != "-" }
      if !isSame { #expect(throws: (any Error).self) { try JoinCode(text: String(letters)) } }
      #expect(throws: (any Error).self) { try JoinCode(text: String(letters.prefix(index))) }
    }
    // Descriptions do not reveal the secret.
    #expect(!"\(code)".contains("\(code.ticket.secret)") && "\(code.ticket)" == "a ticket")
  }
}
