import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// The relay's store is restored from a copy, and the devices state again what the copy lacks.
@Suite struct GiveBackTests {
  private static let emily = SignedFamily.emily

  @Test("T5: a relay that confirmed a command and lost it receives the command again")
  func confirmed() {
    var home = SignedFamily()
    let copy = home.log
    home.tamper = { _, _ in [] }
    home.guardian(1, SignedFamily.contact("ada", known: true))
    home.wait(.seconds(5))
    #expect(home.log.count > copy.count)
    home.beHonest()
    home.restoreRelay(copy, connecting: [1, 3])
    home.wait(.seconds(5))
    #expect(home.known() == ["ada"])
    #expect(home.guardians[1]!.link.pendingCommands.isEmpty)
    #expect(home.count { if case .contactChanged = $0 { true } else { false } } == 1)
  }

  @Test("T5: an event arrives though an acknowledgement of a lost history has confirmed its number")
  func lateAcknowledgement() {
    var home = SignedFamily()
    let copy = home.log
    home.guardian(1, SignedFamily.contact("ada", known: true))
    home.guardian(1, SignedFamily.contact("ben", known: true))
    home.restoreRelay(copy, connecting: [3])
    home.connect(2)
    home.tamper = { event, device in device == 3 ? [] : [event] }
    home.relinks = false
    home.guardian(2, SignedFamily.contact("eve", known: true))
    let former = Cursor(.conversation(Self.emily), delivered: home.log.last!.seq)
    home.request(3, 9, .acknowledge([former]))
    home.beHonest()
    #expect(!home.known().contains("eve"))
    home.wait(.seconds(20))
    #expect(Set(home.known()) == ["ada", "ben", "eve"])
  }

  @Test("O1: a device names the events that a restored relay has lost, and no others")
  func range() {
    var home = SignedFamily()
    let first = home.log.count
    for name in 0..<20 { home.guardian(1, SignedFamily.contact("\(name)", known: true)) }
    let conversation = home.log.filter { $0.audience == .conversation(Self.emily) }
    let copy = Array(home.log.prefix(first + 17))
    let lost = conversation.map(\.seq).filter { $0 > UInt64(copy.count) }
    home.restoreRelay(copy, connecting: [3])
    home.wait(.seconds(5))
    let reports = home.lost[3] ?? []
    #expect(reports.map(\.audience) == [.conversation(Self.emily)])
    #expect(reports.map(\.seqs) == [lost.first!...lost.last!])
    #expect(home.problems[3] == [.forked])
  }

  @Test("T6: a key seals as soon as the relay has confirmed its share, before the share's event")
  func confirmedKey() {
    var home = SignedFamily()
    home.tamper = { _, _ in [] }
    home.guardian(1, SignedFamily.contact("ada", known: true))
    #expect(home.count { if case .contactChanged = $0 { true } else { false } } == 1)
  }

  @Test("A3: a question that another device of the child has asked ends with its confirmation")
  func repeatedQuestion() {
    var home = SignedFamily()
    home.disconnect(4)
    let id = home.ask("ada")
    let question = home.children[3]!.link.question(id)!.question!
    home.app(4, .ask(question, .byMessage))
    home.child(4, .answered(prompt: 1, .send(names: [])))
    #expect(home.children[4]!.link.pendingCommands.count == 1)
    home.connect(4)
    home.wait(.seconds(5))
    #expect(home.children[4]!.link.pendingCommands.isEmpty)
    #expect(home.count { if case .asked = $0 { true } else { false } } == 1)
  }

  @Test("T5: a lost withdrawal reaches a new device after the restoration of a copy")
  func withdrawal() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let copy = home.log
    home.guardian(2, SignedFamily.contact("ada", known: false))
    home.restoreRelay(copy)
    home.wait(.seconds(10))
    #expect(home.log.last?.signature?.signer == DeviceID(2))
    #expect(home.log.count == copy.count + 1)
    #expect(home.knownToNewDevice() == [] && home.known() == [])
    #expect(home.guardians[2]!.link.givenBack == 1)
    #expect(home.guardians[2]!.link.sender.outbox.pending.isEmpty)
  }

  @Test("T5: a lost approval comes back with its question, once")
  func approval() {
    var home = SignedFamily()
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let copy = home.log
    let question = home.ask("ben")
    home.answer(question, "approve")
    #expect(home.known() == ["ada", "ben"])
    let answers = home.answers
    home.restoreRelay(copy, connecting: [1, 2])
    home.wait(.seconds(10))
    // The answer waits for its question.
    #expect(home.log.count == copy.count)
    home.connect(3)
    home.connect(4)
    home.wait(.minutes(1))
    #expect(home.count { if case .asked = $0 { true } else { false } } == 1)
    #expect(home.count { if case .decided = $0 { true } else { false } } == 1)
    #expect(home.knownToNewDevice() == ["ada", "ben"])
    #expect(home.known() == ["ada", "ben"] && home.answers == answers)
    for device: UInt32 in [1, 2, 3, 4] { #expect(home.problems[device] == [.forked]) }
  }

  @Test("T5: a lost statement that another device has replaced stays lost")
  func replaced() {
    var home = SignedFamily()
    let copy = home.log
    home.guardian(1, SignedFamily.contact("ada", known: true))
    let question = home.ask("ben")
    home.answer(question, "approve")
    home.guardian(2, SignedFamily.contact("ada", known: false))
    home.guardian(
      2, .withdraw(child: Self.emily, .handle(Handle("ben", .custom), in: SignedFamily.app)))
    home.restoreRelay(copy, connecting: [1, 3, 4])
    home.wait(.minutes(1))
    #expect(home.knownToNewDevice() == [] && home.known() == [])
    #expect(home.count { if case .contactChanged = $0 { true } else { false } } == 0)
    home.connect(2)
    home.wait(.minutes(1))
    #expect(home.count { if case .contactChanged = $0 { true } else { false } } == 1)
    #expect(home.count { if case .withdrawn = $0 { true } else { false } } == 1)
    #expect(home.knownToNewDevice() == [] && home.known() == [])
  }

  @Test("T5: an answer waits for its question also after a restart")
  func restartedApproval() {
    var home = SignedFamily()
    let copy = home.log
    let question = home.ask("ben")
    home.answer(question, "approve")
    home.restoreRelay(copy, connecting: [1, 2])
    home.disconnect(1)
    home.restore(1)
    home.connect(1)
    home.wait(.minutes(1))
    home.connect(3)
    home.wait(.minutes(1))
    #expect(home.knownToNewDevice() == ["ben"])
  }

  @Test("T5: limits, texts, names and contacts come back", arguments: [false, true])
  func statements(restarts: Bool) {
    var home = SignedFamily()
    let copy = home.log
    home.guardian(1, .setLimits(child: Self.emily, on: false))
    home.guardian(2, .post(child: Self.emily, "one"))
    home.guardian(2, .post(child: Self.emily, "two"))
    home.child(3, .post("three"))
    home.guardian(1, SignedFamily.contact("ada", known: true))
    home.guardian(1, SignedFamily.contact("eve", known: true))
    home.guardian(1, SignedFamily.contact("eve", known: false))
    home.guardian(1, .nameContact(child: Self.emily, Handle("ada", .custom), "Ada"))
    let before = home.guardians[1]!.link.conversations[Self.emily]!
    home.restoreRelay(copy)
    if restarts {
      for device: UInt32 in [1, 2, 3] {
        home.disconnect(device)
        home.restore(device)
        home.connect(device)
      }
    }
    home.wait(.minutes(1))
    #expect(home.knownToNewDevice() == ["ada"])
    // A guardian's device that starts without records.
    home.disconnect(2)
    home.machines.disks[2] = nil
    home.restore(2)
    home.connect(2)
    home.wait(.minutes(3))
    let after = home.guardians[2]!.link.conversations[Self.emily]!
    #expect(!after.limitsOn && after.name(of: Handle("ada", .custom)) == "Ada")
    func texts(_ conversation: Conversation) -> Set<String> {
      Set(conversation.lines.compactMap { if case .text(let text) = $0.body { text } else { nil } })
    }
    #expect(texts(after) == texts(before) && texts(after).count == 3)
    // A replaced statement does not come back.
    #expect(home.count { if case .contactChanged = $0 { true } else { false } } == 3)
    for device: UInt32 in [1, 2, 3, 4] {
      #expect(!(home.problems[device] ?? []).contains(.replayed) || restarts)
    }
  }
}

extension SignedFamily {
  /// A guardian's change of a contact of the child.
  static func contact(_ handle: String, known: Bool) -> GuardianMachine.Input {
    .changeContact(child: emily, Handle(handle, .custom), known: known)
  }

  /// The handles that a device of the child knows which joins now, with nothing but the relay's store.
  func knownToNewDevice() -> [String] {
    var home = self
    let keys = self.keys
    #expect(home.change { $0.devices.append(Self.device(5, 3, keys)) } == nil, "the roster")
    home.restore(5)
    home.connect(5)
    home.wait(.minutes(3))
    return home.known(5)
  }

  /// The number of the relay's events of this kind.
  func count(_ isWanted: (Event.Body) -> Bool) -> Int { machines.log.count { isWanted($0.body) } }

  /// Restores the relay's store from a copy. All devices lose their connection.
  mutating func restoreRelay(_ copy: [Event], connecting devices: [UInt32] = [1, 2, 3, 4]) {
    let present = machines.children.keys.sorted() + machines.guardians.keys.sorted()
    for device in present { disconnect(device) }
    machines.log = copy
    machines.relay = RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest)
    machines.relay.load(Self.family, events: copy, cursors: [], now: machines.now)
    for device in devices { connect(device) }
  }
}
