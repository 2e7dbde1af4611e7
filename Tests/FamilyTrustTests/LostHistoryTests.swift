import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Removals, kills and repeated losses with a relay's store that is restored from a copy.
@Suite struct LostHistoryTests {
  private static let emily = SignedFamily.emily

  @Test("T5: nobody who was removed comes back with a copy of before the removal")
  func removal() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let copy = home.log
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    let former = home.guardians[2]!
    home.restoreRelay(copy, connecting: [2, 3])
    // The removed device acts while the relay knows it again.
    home.guardians[2] = former
    home.guardian(2, .connected)
    home.guardian(2, SignedFamily.contact("eve", known: true))
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 9)
    let body = Event.Body.limitsChanged(child: Self.emily, on: false)
    let head = home.relay.state(of: SignedFamily.family)!.head(.family)
    let signature = home.sign(body, id, as: 2, basedOnSeq: head)
    home.request(2, 9, .command(id, .setLimits(child: Self.emily, on: false), signature))
    #expect(home.children[3]!.link.limitsOn(for: Self.emily))
    #expect(home.known() == ["ada"])
    home.connect(1)
    home.wait(.minutes(1))
    let roster = home.relay.state(of: SignedFamily.family)!.roster
    #expect(roster.device(DeviceID(2)) == nil && roster == home.roster)
    for device: UInt32 in [1, 3] {
      let link = home.children[device]?.link ?? home.guardians[device]!.link
      #expect(link.roster == home.roster && !link.verifier!.isRosterLost)
    }
    #expect(home.children[3]!.link.limitsOn(for: Self.emily) && home.known() == ["ada"])
    home.connect(4)
    #expect(home.children[4]!.link.roster == home.roster)
    // The next roster counts on all devices.
    let keys = home.keys
    #expect(home.change { $0.devices.append(SignedFamily.device(6, 1, keys)) } == nil)
    for device: UInt32 in [3, 4] { #expect(home.children[device]!.link.roster == home.roster) }
  }

  @Test("T4: a device that alone has read its removal stays out and sends nothing")
  func removalOfOneReader() {
    var home = SignedFamily()
    let copy = home.log
    home.disconnect(2)
    home.guardian(2, SignedFamily.contact("eve", known: true))
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    home.guardian(2, .broadcast(.event(home.stored(home.log.last { $0.isRoster }!))))
    home.restoreRelay(copy, connecting: [2])
    let isShutOut = home.guardians[2]!.link.isShutOut
    #expect(isShutOut)
    let frames = home.frames.count
    home.wait(.minutes(5))
    // Each ping has a reply, and the relay stores nothing.
    let sent = home.frames.count - frames
    #expect(sent <= 40)
    #expect(home.log.count == copy.count)
  }

  @Test(
    "T5, T9: the roster of a guardian whose removal the relay lost is changed, and counts nowhere")
  func formerGuardian() {
    var home = SignedFamily()
    let (copy, keys) = (home.log, home.keys)
    home.disconnect(2)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    let roster = home.roster
    home.restoreRelay(copy, connecting: [3])
    home.connect(2)
    home.roster = home.relay.state(of: SignedFamily.family)!.roster
    #expect(home.change(by: 2) { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    home.connect(1)
    home.wait(.minutes(1))
    #expect(home.relay.state(of: SignedFamily.family)!.roster == roster)
    for link in [home.guardians[1]!.link, home.children[3]!.link] {
      #expect(link.roster == roster && !link.verifier!.isRosterLost)
    }
    // The app follows the later rosters, whose predecessor counts on no device.
    home.roster = roster
    #expect(home.change { $0.devices.append(SignedFamily.device(6, 1, keys)) } == nil)
    for _ in 1...2 {
      let rosters = home.apps[3]!.verifier!.rosters
      #expect(rosters.isComplete && rosters.signers == [1, 3, 4, 6].map { DeviceID($0) })
      home.disconnect(3)
      home.restore(3)
      home.connect(3)
      home.startApp(on: 3)
    }
    #expect(home.appProblems == [:])
  }

  @Test("T4: no guardian's device states a member whom a guardian added after its lost removal")
  func stranger() {
    var home = SignedFamily()
    let (copy, keys) = (home.log, home.keys)
    home.disconnect(2)
    #expect(home.change { $0.devices.append(SignedFamily.device(6, 1, keys)) } == nil)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    home.restoreRelay(copy, connecting: [3])
    home.connect(2)
    home.roster = home.relay.state(of: SignedFamily.family)!.roster
    #expect(home.change(by: 2) { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    home.disconnect(2)
    home.connect(1)
    for _ in 1...120 {
      home.wait(.milliseconds(500))
      #expect(home.children[3]!.link.roster.device(DeviceID(5)) == nil)
    }
    let roster = home.relay.state(of: SignedFamily.family)!.roster
    // Device 6 needs a new invitation.
    #expect(roster.devices.map(\.id) == [1, 3, 4].map { DeviceID($0) })
    #expect(home.children[3]!.link.roster == roster && home.guardians[1]!.link.roster == roster)
  }

  @Test("T5: a roster of a guardian who missed a lost removal brings nobody back")
  func concurrentRoster() {
    var home = SignedFamily()
    let copy = home.log
    home.disconnect(2)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    let removed = home.roster
    home.restoreRelay(copy, connecting: [3])
    home.roster = home.relay.state(of: SignedFamily.family)!.roster
    home.connect(2)
    let keys = home.keys
    #expect(home.change(by: 2) { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    #expect(home.children[3]!.link.roster.device(DeviceID(4)) == nil)
    #expect(home.children[3]!.link.roster.device(DeviceID(5)) != nil)
    home.disconnect(3)
    home.restore(3)
    home.connect(3)
    #expect(home.children[3]!.link.roster.device(DeviceID(4)) == nil)
    home.connect(1)
    home.wait(.minutes(1))
    let roster = home.relay.state(of: SignedFamily.family)!.roster
    #expect(roster.devices.map(\.id) == removed.devices.map(\.id) + [DeviceID(5)])
    #expect(home.children[3]!.link.roster == roster)
    #expect(home.guardians[2]!.link.roster == roster)
  }

  @Test("T5: a restarted device takes no event of a lost history for one of the present history")
  func restarted() {
    var home = SignedFamily()
    let copy = home.log
    home.disconnect(2)
    #expect(home.change { $0.persons[0].displayName = "Rosalind" } == nil)
    home.restoreRelay(copy, connecting: [3])
    home.roster = home.relay.state(of: SignedFamily.family)!.roster
    // The lost roster's position is free in the family's audience.
    home.child(3, .post("one"))
    home.connect(2)
    #expect(home.change(by: 2) { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    let head = home.children[3]!.link.verifier!.head(.family)
    #expect(home.children[3]!.link.roster.device(DeviceID(4)) == nil)
    home.disconnect(3)
    home.restore(3)
    #expect(home.children[3]!.link.verifier!.head(.family) == head)
    #expect(home.children[3]!.link.roster.device(DeviceID(4)) == nil)
  }

  @Test("T5: a restarted device applies a lost removal after the roster that it changes")
  func lostRemoval() throws {
    var home = SignedFamily()
    let copy = home.log
    #expect(home.change { $0.persons[0].displayName = "Rosalind" } == nil)
    let renamed = try #require(home.machines.log.last)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    home.restoreRelay(copy, connecting: [3])
    // The restored relay receives the first roster again, at another position.
    home.child(3, .post("one"))
    guard case .rosterChanged(let roster) = renamed.body else { return }
    let head = home.relay.state(of: SignedFamily.family)!.head(.family)
    let signature = home.sign(renamed.body, renamed.command, .family, as: 1, basedOnSeq: head)
    let command = Request.command(renamed.command, .setRoster(roster), signature)
    #expect(home.request(1, 90, command) == nil)
    #expect(home.children[3]!.link.roster.device(DeviceID(2)) == nil)
    home.disconnect(3)
    home.restore(3)
    #expect(home.children[3]!.link.roster.persons[0].displayName == "Rosalind")
    #expect(home.children[3]!.link.roster.device(DeviceID(2)) == nil)
  }

  @Test("T5: a relay that lost an addition and a removal gets both back, one after the other")
  func additionAndRemoval() {
    var home = SignedFamily()
    let (copy, keys) = (home.log, home.keys)
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    let roster = home.roster
    home.restoreRelay(copy, connecting: [1, 2, 3])
    home.wait(.minutes(5))
    #expect(home.relay.state(of: SignedFamily.family)!.roster == roster)
    for link in [home.guardians[1]!.link, home.guardians[2]!.link, home.children[3]!.link] {
      #expect(link.roster == roster && !link.verifier!.isRosterLost)
      #expect(link.pendingCommands.isEmpty)
    }
  }

  @Test("T5: a device that restarts before a lost withdrawal is back still knows it")
  func offline() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let copy = home.log
    home.guardian(2, SignedFamily.contact("ada", known: false))
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    let roster = home.roster
    home.restoreRelay(copy, connecting: [3])
    home.child(3, .post("one"))
    home.child(3, .post("two"))
    home.disconnect(3)
    home.restore(3)
    home.connect(3)
    #expect(home.known() == [] && home.children[3]!.link.roster == roster)
    home.wait(.hours(1))
    home.connect(2)
    home.connect(1)
    home.wait(.minutes(1))
    home.disconnect(3)
    home.restore(3)
    home.connect(3)
    #expect(home.known() == [] && home.children[3]!.link.roster == roster)
    #expect(home.knownToNewDevice() == [])
  }

  @Test("T5: a kill at any effect neither loses nor doubles a lost statement", arguments: 0..<14)
  func killed(effects: Int) {
    var home = SignedFamily()
    let copy = home.log
    let question = home.ask("ben")
    home.answer(question, "approve")
    home.guardian(1, SignedFamily.contact("ada", known: true))
    home.guardian(1, SignedFamily.contact("eve", known: false))
    home.restoreRelay(copy, connecting: [2, 3])
    home.machines.kill = (1, effects)
    home.connect(1)
    home.wait(.seconds(5))
    home.machines.kill = nil
    home.machines.revive(1)
    home.disconnect(1)
    home.restore(1)
    home.connect(1)
    home.wait(.minutes(2))
    #expect(home.knownToNewDevice() == ["ada", "ben"])
    #expect(home.count { if case .contactChanged = $0 { true } else { false } } == 2)
    #expect(home.count { if case .decided = $0 { true } else { false } } == 1)
    #expect(home.guardians[1]!.link.sender.outbox.pending.isEmpty)
  }

  @Test("T5: two restorations in a row lose nothing")
  func twice() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let copy = home.log
    let question = home.ask("ben")
    home.answer(question, "approve")
    home.guardian(2, SignedFamily.contact("ada", known: false))
    for restarts in [false, true] {
      home.restoreRelay(copy)
      home.wait(.minutes(2))
      #expect(home.knownToNewDevice() == ["ben"])
      if restarts { continue }
      for device: UInt32 in [1, 2, 3] {
        home.disconnect(device)
        home.restore(device)
        home.connect(device)
      }
    }
  }

  @Test("T5: a relay that loses a statement again and again makes a device send it seldom")
  func endless() {
    var home = SignedFamily(connected: [1])
    let copy = home.log
    home.guardian(1, SignedFamily.contact("ada", known: true))
    var sent = 0
    for _ in 0..<200 {
      home.restoreRelay(copy, connecting: [1])
      home.wait(.minutes(1))
      sent += home.log.count - copy.count
    }
    #expect(sent > 3 && sent < 40)
  }

  @Test("T5: of too many lost statements, those that take a permission come back")
  func limit() {
    var statements = OwnStatements()
    func event(_ seq: UInt64, _ body: Event.Body) -> Event {
      Event(
        seq: seq, previous: seq - 1, audience: .conversation(Self.emily),
        command: CommandID(high: seq, low: 1), device: DeviceID(1), at: Instant(milliseconds: 0),
        body: body)
    }
    statements.add(event(1, .limitsChanged(child: Self.emily, on: true)))
    for seq in 2...UInt64(Limits.ownStatements + 10) {
      statements.add(event(seq, .posted(child: Self.emily, .text("\(seq)"))))
    }
    let lost = statements.lose(.conversation(Self.emily), after: 0)
    #expect(lost.count == Limits.statementsGivenBack)
    #expect(lost.first?.command == .setLimits(child: Self.emily, on: true))
    #expect(lost.last?.command == .post(child: Self.emily, .text("\(Limits.ownStatements + 10)")))
    #expect(statements.lose(.conversation(Self.emily), after: .max).count == lost.count)
  }
}
