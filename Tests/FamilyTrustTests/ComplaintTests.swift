import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// Keys that a reader cannot open, its complaints, and the repair.
@Suite struct ComplaintTests {
  private static let audience = Audience.conversation(SignedFamily.emily)

  /// Shares a key with all devices; the wraps of some are rubbish. The device that shares the key
  /// then uses it, because its machine is honest.
  @discardableResult
  private func share(
    _ home: inout SignedFamily, by device: UInt32 = 3, rubbish: Set<UInt32>,
    secret: [UInt8]? = nil, readers: [UInt32] = [1, 2, 3, 4]
  ) -> (name: ContentKeyID, secret: [UInt8]) {
    let vault = KeyVault(home.keys[device]!)
    let secret = secret ?? vault.makeKey()
    let name = KeyRing.name(of: secret, vault)
    let binding = KeyRing.binding(SignedFamily.family, Self.audience, name)
    let wraps = readers.map { id in
      let reader = home.keys[id]!.agreementKey
      let good = vault.wrap(secret, for: reader, binding: binding)!
      return KeyWrap(key: name, reader: reader, bytes: rubbish.contains(id) ? [1, 2, 3] : good)
    }
    #expect(send(&home, .shareKeys(Self.audience, wraps), .keysShared(wraps), by: device) == nil)
    return (name, secret)
  }

  private func send(
    _ home: inout SignedFamily, _ command: Command, _ body: Event.Body, by device: UInt32
  ) -> Problem? {
    let number = UInt64(home.log.count)
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: number << 8 | 9)
    let signature = home.sign(body, id, as: device)
    return home.request(device, 1, .command(id, command, signature))
  }

  private func complaints(_ home: SignedFamily, by device: UInt32? = nil) -> [Event] {
    home.log.filter { event in
      guard case .complained = event.body else { return false }
      return device.map { event.device == DeviceID($0) } ?? true
    }
  }

  private func seals(_ event: Event, _ name: ContentKeyID, _ home: SignedFamily) -> Bool {
    event.body.content.flatMap { KeyVault(home.keys[1]!).keyName(of: $0) } == name
  }

  @Test("T6: a device complains in time although its clock was set back while it was offline")
  func clockSetBack() {
    var home = SignedFamily()
    share(&home, rubbish: [2])
    #expect(home.guardians[2]!.link.sender.missingKeys.count == 1)
    home.disconnect(2)
    home.machines.now = home.now - .minutes(50)
    for id: UInt32 in [1, 2] { home.guardian(id, .clockSetBack) }
    for id: UInt32 in [3, 4] { home.child(id, .clockSetBack) }
    home.connect(2)
    home.wait(.minutes(1))
    #expect(complaints(home, by: 2).count == 1)
    #expect(home.guardians[2]!.link.unopenedCount == 0)
  }

  @Test("T6: a child cannot hide a question, its answer and withdrawals from one guardian")
  func hidden() {
    var home = SignedFamily()
    // Emily's first device seals the key for Rosa, and rubbish for Alex and the second device.
    let (name, _) = share(&home, rubbish: [2, 4])
    let question = home.ask("ada")
    #expect(home.log.contains { seals($0, name, home) })
    home.answer(question, "approve", by: 1)
    #expect(home.known() == ["ada"] && home.known(4) == [])
    let alex = { (home: SignedFamily) in
      home.guardians[2]!.link.conversations[SignedFamily.emily]
    }
    #expect(alex(home)?.questions[question] == nil)
    #expect(home.guardians[2]!.link.unopenedCount == 1)
    home.wait(.seconds(30))
    #expect(complaints(home, by: 2).count == 1 && complaints(home, by: 4).count == 1)
    #expect(alex(home)?.delivery(of: question) == .answered)
    #expect(home.known(4) == ["ada"])
    #expect(home.guardians[2]!.link.unopenedCount == 0)
    home.guardian(
      1, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: nil)))
    #expect(home.known() == [] && home.known(4) == [])
    #expect(alex(home)?.known.all(in: SignedFamily.app) == [])
    #expect(home.problems == [:])
    // The device shows the number, and finds the same state after a restart.
    #expect(home.unopened[2] == [1])
    home.restore(2)
    #expect(alex(home)?.delivery(of: question) == .answered)
  }

  @Test("T6: a key about which a complaint stands seals nothing before it is answered")
  func answerFirst() throws {
    var home = SignedFamily()
    let (name, _) = share(&home, rubbish: [2])
    home.disconnect(1)
    home.disconnect(4)
    for _ in 0..<150 where complaints(home).isEmpty { home.wait(.milliseconds(100)) }
    #expect(complaints(home).count == 1)
    // Another holder is to answer. Emily's device writes before that, so it answers first.
    let question = home.ask("ada")
    let complaint = try #require(complaints(home).first).seq
    let answer = try #require(
      home.log.first { event in
        guard event.seq > complaint, case .keysShared(let wraps) = event.body else { return false }
        return wraps.contains { $0.key == name && $0.reader == home.keys[2]!.agreementKey }
      })
    let first = try #require(home.log.first { $0.seq > complaint && $0.body.content != nil })
    #expect(answer.seq < first.seq)
    #expect(seals(first, name, home))
    #expect(home.guardians[2]!.open(now: home.now).map(\.question.id) == [question])
    #expect(home.problems == [:])
  }

  @Test("T6: an answer of rubbish leads to another complaint, which the next holder answers")
  func rubbishAnswer() {
    var home = SignedFamily()
    home.disconnect(1)
    home.disconnect(4)
    let (name, secret) = share(&home, rubbish: [2])
    home.ask("ada")
    home.wait(.seconds(15))
    #expect(complaints(home).count == 1)
    // The honest machine of device 3 has answered. The next complaint meets rubbish only.
    var hostile = SignedFamily()
    for device: UInt32 in [1, 4] { hostile.disconnect(device) }
    let other = share(&hostile, rubbish: [2])
    hostile.disconnect(3)
    hostile.wait(.seconds(11))
    for _ in 1...3 { share(&hostile, rubbish: [2], secret: other.secret, readers: [2]) }
    hostile.wait(.seconds(60))
    #expect(complaints(hostile).count == 2)
    hostile.connect(1)
    hostile.wait(.seconds(30))
    #expect(hostile.guardians[2]!.link.verifier!.ring.secret(other.name, Self.audience) != nil)
    #expect(home.guardians[2]!.link.verifier!.ring.secret(name, Self.audience) == secret)
    #expect(hostile.problems == [:])
  }

  @Test("T6: a member that complains about every key neither stops others nor uses their keys up")
  func complainer() {
    var home = SignedFamily()
    home.disconnect(3)
    home.disconnect(4)
    for number in 0..<100 {
      home.guardian(1, .post(child: SignedFamily.emily, "\(number)"))
      let names = home.log.flatMap { event -> [ContentKeyID] in
        if case .keysShared(let wraps) = event.body { wraps.map(\.key) } else { [] }
      }
      let keys = Array(Set(names))
      #expect(send(&home, .complain(Self.audience, keys), .complained(keys), by: 3) == nil)
      home.wait(.seconds(10))
    }
    let lines = home.guardians[2]!.link.conversations[SignedFamily.emily]?.lines ?? []
    #expect(lines.count == 100)
    #expect(home.guardians[1]!.link.verifier!.ring.count(Self.audience) <= 2)
    #expect(home.problems == [:])
  }

  @Test("T6: a content under a key that nobody has is counted, and complained about once")
  func unknownKey() {
    var home = SignedFamily()
    let sealed = SealedContent(key: ID128(high: 9, low: 9), box: Array(repeating: 0, count: 40))
    let content = Content.sealed(sealed.bytes)
    #expect(
      send(
        &home, .post(child: SignedFamily.emily, content),
        .posted(child: SignedFamily.emily, content), by: 3) == nil)
    #expect(home.guardians[2]!.link.unopenedCount == 1)
    home.wait(.seconds(50))
    #expect(complaints(home).isEmpty)
    home.wait(.hours(3))
    #expect(complaints(home, by: 2).count == 1)
    #expect(home.unopened[2] == [1] && home.problems == [:])
  }

  @Test("T6: the relay limits complaints by their number, their keys and their senders")
  func limits() {
    var home = SignedFamily()
    func complain(_ home: inout SignedFamily, _ count: Int, by device: UInt32 = 3) -> Problem? {
      let keys = (0..<count).map { ID128(high: 1, low: UInt64($0)) }
      return send(&home, .complain(Self.audience, keys), .complained(keys), by: device)
    }
    #expect(complain(&home, 0) == .tooMany)
    home.wait(.seconds(10))
    let accepted = (0..<40).count { _ in complain(&home, 1) == nil }
    #expect(30...Int(RateLimits.device.burst / RateLimits.complaintCost) ~= accepted)
    #expect(complain(&home, 1)?.code == 502)
    let stranger = Command.complain(.account(PersonID(1)), [ID128(high: 1, low: 1)])
    let body = Event.Body.complained([ID128(high: 1, low: 1)])
    #expect(send(&home, stranger, body, by: 2) == .notPermitted)
  }
}
