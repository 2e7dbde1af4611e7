import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// A relay that shows a device another history than it stores, and then is honest again.
@Suite struct HistoryTests {
  private static let emily = SignedFamily.emily
  private let ada = Handle("ada", .custom)

  private func isContact(_ body: Event.Body) -> Bool {
    if case .contactChanged = body { true } else { false }
  }

  /// Shows device 3 a history without the events that `isHidden` selects: each later event names
  /// the shown event before it.
  private func hide(_ home: inout SignedFamily, _ isHidden: @escaping (Event.Body) -> Bool) {
    var hidden: [UInt64: UInt64] = [:]
    home.tamper = { event, device in
      guard device == 3 else { return [event] }
      if isHidden(event.body) {
        hidden[event.seq] = event.previous
        return []
      }
      var event = event
      while let before = hidden[event.previous] { event.previous = before }
      return [event]
    }
  }

  /// A family whose relay has a request to join of before.
  private func withJoinRequest() -> (home: SignedFamily, join: Event) {
    var home = SignedFamily()
    let ticket = JoinTicket()
    home.guardian(1, .invite(ticket.invitation(for: PersonID(2), until: home.now + .hours(1))))
    let join = ticket.join(SignedFamily.family, publicKey: Device.curveKey(6), keys: home.keys[6]!)
    home.request(6, 1, .join(join))
    return (home, home.event { if case .joinRequested = $0 { true } else { false } })
  }

  @Test("T5: a skipped withdrawal is noticed at the next signed event, and then applied")
  func skip() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    #expect(home.known() == ["ada"])
    hide(&home, isContact)
    home.guardian(2, SignedFamily.contact("ada", known: false))
    #expect(home.problems[3] == nil && home.known() == ["ada"])
    home.guardian(1, .post(child: Self.emily, "hello"))
    #expect(home.problems[3] == [.forked])
    home.beHonest()
    home.guardian(1, .post(child: Self.emily, "again"))
    #expect(home.known() == [] && home.known(4) == [])
    #expect(home.children[3]!.link.position == home.children[4]!.link.position)
    #expect(home.problems[3] == [.forked, .forked] && home.problems[4] == nil)
  }

  @Test("T5: a withdrawal by a device that a false history adds later counts, in the app as well")
  func laterRoster() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    home.disconnect(3)
    let keys = home.keys
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    let position = home.rosterSeq
    home.restore(5)
    home.connect(5)
    home.wait(.seconds(10))
    home.guardian(5, SignedFamily.contact("ada", known: false))
    #expect(home.known(4) == [])
    home.tamper = { event, device in
      guard device == 3, event.seq == position else { return [event] }
      var later = event
      later.seq += 100
      return [later]
    }
    home.connect(3)
    home.wait(.seconds(1))
    #expect(home.known() == [])
    for restarts in [false, true] {
      var home = home
      home.readAgain(on: 3, restarts: restarts)
      home.wait(.seconds(10))
      #expect(home.known() == [])
    }
  }

  @Test("T5: a device notices a skipped withdrawal at its next attachment and after a restart")
  func attachment() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    hide(&home, isContact)
    home.guardian(2, SignedFamily.contact("ada", known: false))
    home.guardian(1, .post(child: Self.emily, "hello"))
    for restarts in [false, true] {
      var home = home
      home.readAgain(on: 3, restarts: restarts)
      #expect(home.known() == [])
      #expect(home.problems[3] == [.forked, .forked])
      // The chain of after the reread survives the next restart.
      home.disconnect(3)
      home.restore(3)
      home.connect(3)
      #expect(home.problems[3] == [.forked, .forked] && home.known() == [])
    }
  }

  @Test("T5: a request to join in the place of a removal hides the removal from no later event")
  func filler() {
    var (home, join) = withJoinRequest()
    home.tamper = { event, device in
      guard device == 3, case .rosterChanged = event.body, event.seq > join.seq else {
        return [event]
      }
      var filler = join
      (filler.seq, filler.previous) = (event.seq, event.previous)
      return [filler]
    }
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    #expect(home.children[3]!.link.roster.device(DeviceID(2)) != nil)
    #expect(home.problems[3] == [.replayed])
    home.guardian(1, SignedFamily.contact("ada", known: true))
    #expect(home.problems[3]?.last == .forked && home.known() == [])
    // A withdrawal counts in every history.
    home.guardian(1, SignedFamily.contact("ada", known: false))
    #expect(home.problems[3]?.last == .forked && home.known() == [])
    home.beHonest()
    home.disconnect(3)
    home.connect(3)
    #expect(home.children[3]!.link.roster == home.roster)
    home.guardian(1, SignedFamily.contact("ben", known: true))
    #expect(home.known() == ["ben"])
  }

  @Test("T5: a request to join under the id of a withheld withdrawal does not use up the id")
  func taken() {
    var (home, join) = withJoinRequest()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    hide(&home, isContact)
    home.guardian(2, SignedFamily.contact("ada", known: false))
    var taken = join
    taken.command = home.event(isContact).command
    taken.seq = home.log.last!.seq + 1
    taken.previous = home.children[3]!.link.delivered(.family)
    home.hand(taken, to: 3)
    home.beHonest()
    home.disconnect(3)
    home.connect(3)
    #expect(home.known() == [])
  }

  @Test("T5: an event with an invented number makes no device deaf", arguments: [false, true])
  func deaf(restarts: Bool) {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    var invented = home.forged(.reminded(QuestionID(high: 1, low: 1)))
    invented.seq = .max
    home.hand(invented, to: 3)
    #expect(home.problems[3] == [.notSigned])
    if restarts {
      home.disconnect(3)
      home.restore(3)
      home.connect(3)
    }
    home.guardian(1, SignedFamily.contact("ada", known: false))
    #expect(home.known() == [])
    #expect(home.problems[3]?.contains(.forked) ?? false)
  }

  @Test("T5: an event that does not continue the chain moves no cursor")
  func wrongHash() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    var event = home.forged(.reminded(QuestionID(high: 1, low: 1)))
    event.hash = ChainHash(first: ID128(high: 1, low: 1), second: ID128(high: 1, low: 1))
    let before = home.children[3]!.link.position
    home.deliver(.event(event), to: 3)
    #expect(home.children[3]!.link.position == before)
    #expect(home.problems[3] == [.forked])
  }

  @Test("T5: of two rosters, each shown to one device, the next signed event tells")
  func fork() throws {
    var home = SignedFamily()
    let keys = home.keys
    let other = try home.showOtherRoster(to: 4)
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 1, keys)) } == nil)
    #expect(home.children[3]!.link.roster == home.roster)
    #expect(home.children[4]!.link.roster == other)
    home.guardian(1, SignedFamily.contact("ada", known: true))
    #expect(home.known() == ["ada"] && home.known(4) == [])
    #expect(home.problems[4]?.contains(.forked) ?? false)
    #expect(home.problems[3] == nil)
    // With the honest relay the histories join, and the next roster counts on both devices.
    home.beHonest()
    home.disconnect(4)
    home.connect(4)
    #expect(home.known(4) == ["ada"])
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(5) } } == nil)
    #expect(home.children[4]!.link.roster == home.roster)
  }

  @Test("T5: after the restoration of a copy, devices report it, and new commands reach all")
  func backup() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let copy = home.log
    for text in ["one", "two", "three"] { home.guardian(2, .post(child: Self.emily, text)) }
    home.guardian(1, SignedFamily.contact("ben", known: true))
    for device: UInt32 in [1, 2, 3, 4] { home.disconnect(device) }
    home.log = copy
    home.machines.relay = RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest)
    home.machines.relay.load(SignedFamily.family, events: copy, cursors: [], now: home.now)
    for device: UInt32 in [1, 2, 3, 4] { home.connect(device) }
    for device: UInt32 in [1, 2, 3, 4] { #expect(home.problems[device] == [.forked]) }
    home.guardian(1, SignedFamily.contact("ada", known: false))
    home.wait(.seconds(10))
    #expect(home.known() == ["ben"] && home.known(4) == ["ben"])
    #expect(home.guardians[1]!.link.pendingCommands.isEmpty)
    let position = home.children[3]!.link.position
    #expect(position == home.children[4]!.link.position)
  }
}
