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
  /// A relay with family 1, a visit of its organizer, and an invitation of child 3.
  private struct Invited: ~Copyable {
    let rig: RelayFixture
    let pairs: [UInt32: CurveKeyPair]
    var organizer: DeviceClient
    let ticket = JoinTicket()
    let code: JoinCode

    init(milliseconds: Int64 = 60_000) async throws {
      let rig = try await RelayFixture()
      let pairs = try rig.found(1)
      var organizer = try rig.visit(1, 10, .organizer, pairs)
      try organizer.send(
        .invite(ticket.invitation(for: PersonID(3), until: .now + milliseconds)))
      self.rig = rig
      self.pairs = pairs
      code = JoinCode(ticket, from: organizer.credential)
      self.organizer = consume organizer
    }

    /// What the guardian's device does when somebody has come with the code.
    mutating func letIn() throws {
      let link = try organizer.family().link
      let join = try #require(link.joins.last)
      #expect(join.invitation == ticket.publicKey)
      try organizer.send(.setRoster(link.roster(adding: join, of: PersonID(3))))
    }
  }

  /// The code brings a device no further than any stranger.
  private func expectRefused(_ code: JoinCode) throws {
    var joining = try Joining(code)
    do {
      _ = try joining.credential()
      Issue.record("somebody was let in")
    } catch let problem as Problem { #expect(problem == .notEnrolled) }
  }

  @Test("F3: a device makes its own keys and joins with a code, which works once") func once()
    async throws
  {
    var home = try await Invited()
    let code = try JoinCode(text: home.code.text)
    var joining = try Joining(code)
    #expect(try joining.credential() == nil)
    try expectRefused(code)
    // Asking again changes nothing.
    #expect(try joining.credential() == nil)
    #expect(try home.organizer.family().link.joins.count == 1)
    try home.letIn()
    let credential = try #require(try joining.credential())
    #expect(credential.personID == PersonID(3) && credential.role == .child)
    #expect(credential.name == "P3" && credential.address.device == DeviceID(51))
    var visit = try DeviceClient(credential)
    let device = try visit.family().link.roster.device(DeviceID(51))
    #expect(device == credential.device)
    try expectRefused(code)
    // Who was let in and is taken out is a stranger.
    let link = try home.organizer.family().link
    try home.organizer.send(.setRoster(link.roster(removing: DeviceID(51))))
    #expect(throws: Problem.notEnrolled) { _ = try joining.credential() }
    try await home.rig.stop()
  }

  @Test("F3: an expired code lets nobody in") func expired() async throws {
    let home = try await Invited(milliseconds: 5_000)
    try await Task.sleep(for: .milliseconds(5_100))
    try expectRefused(home.code)
    try await home.rig.stop()
  }

  @Test("F3: nor does another secret, or the code in another family") func wrong() async throws {
    let home = try await Invited()
    _ = try home.rig.found(2)
    var code = home.code
    code.ticket = JoinTicket()
    try expectRefused(code)
    for family in [FamilyID(2), FamilyID(3)] {
      code = home.code
      code.family = family
      try expectRefused(code)
    }
    try await home.rig.stop()
  }

  @Test("F3: a request to join is of one key: who has overheard it gets nothing") func replayed()
    async throws
  {
    let home = try await Invited()
    let (own, other) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
    let join = home.ticket.join(FamilyID(1), publicKey: own.publicKey.bytes, keys: DeviceKeys())
    let thief = try home.rig.peer(1, 0, other)
    #expect(try thief.ask(.join(join)) == .failed(.notEnrolled))
    var changed = join
    changed.publicKey = other.publicKey.bytes
    #expect(try thief.ask(.join(changed)) == .failed(.notEnrolled))
    let device = try home.rig.peer(1, 0, own)
    #expect(try device.ask(.join(join)) == .joined(DeviceID(0)))
    #expect(try device.ask(.join(join)) == .joined(DeviceID(0)))
    #expect(try thief.ask(.join(join)) == .failed(.notEnrolled))
    // Who waits for a guardian is a stranger still.
    #expect(try device.ask(.ping) == .failed(.notEnrolled))
    try await home.rig.stop()
  }

  @Test("X3: a relay that puts another key into a request is not believed") func swapped()
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
      let device = try home.rig.peer(1, 10, home.pairs[10])
      guard case .page(_, var events, _) = try device.ask(.fetch(.family, after: 0)) else {
        return []
      }
      events[events.count - 1].body = .joinRequested(event)
      return home.organizer.credential.machine(restoring: events).link.joins
    }
    #expect(try joins(with: join) == [join])
    #expect(try joins(with: swapped) == [])
    // And a relay that vouches for the family itself: the code says whose word counts.
    try home.letIn()
    var code = home.code
    code.organizerKey = DeviceKeys().signingKey
    code.ticket = JoinTicket()
    try home.organizer.send(
      .invite(code.ticket.invitation(for: PersonID(3), until: .now + 60_000)))
    var deceived = try Joining(code)
    #expect(try deceived.credential() == nil)
    let later = try home.organizer.family().link
    try home.organizer.send(
      .setRoster(later.roster(adding: try #require(later.joins.last), of: PersonID(3))))
    #expect(throws: Problem.notSigned) { _ = try deceived.credential() }
    try await home.rig.stop()
  }

  @Test("F3: a stranger gets `not enrolled`, whatever it asks") func stranger() async throws {
    let home = try await Invited()
    let stranger = try home.rig.peer(1, 30, nil)
    let requests: [Request] = [
      .ping, .attach([]), .fetch(.family, after: 0), .acknowledge([]),
      .fetch(.conversation(PersonID(3)), after: 0),
      .join(
        JoinTicket().join(
          FamilyID(1), publicKey: try CurveKeyPair.generate().publicKey.bytes, keys: DeviceKeys())),
    ]
    for request in requests { #expect(try stranger.ask(request) == .failed(.notEnrolled)) }
    let invitation = JoinTicket().invitation(for: PersonID(3), until: .now + 1_000)
    for command in [Command.post(child: PersonID(3), .text("x")), .invite(invitation)] {
      let id = CommandID.next
      #expect(try stranger.ask(.command(id, command)) == .refused(id, .notEnrolled))
    }
    try await home.rig.stop()
  }

  @Test("F3: a device that a guardian took out is out at once, and hears nothing more")
  func removed() async throws {
    var home = try await Invited()
    let lost = try home.rig.peer(1, 40, home.pairs[40])
    try lost.attach()
    while try lost.broadcast(within: 200) != nil {}
    let link = try home.organizer.family().link
    try home.organizer.send(.setRoster(link.roster(removing: DeviceID(40))))
    #expect(try lost.ask(.ping) == .failed(.notEnrolled))
    // The last that it hears is that it is out.
    while try lost.broadcast(within: 300) != nil {}
    let child = try home.rig.peer(1, 30, home.pairs[30])
    _ = try child.post("secret")
    try home.organizer.send(
      .setRoster(try home.organizer.family().link.roster(removing: PersonID(5))))
    #expect(try lost.broadcast(within: 500) == nil && lost.unopened == 0)
    try await home.rig.stop()
  }

  @Test("F3: a code is read back as it was, and not if a letter is wrong") func codes() throws {
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
    // The secret is in no description of it.
    #expect(!"\(code)".contains("\(code.ticket.secret)") && "\(code.ticket)" == "a ticket")
  }
}
