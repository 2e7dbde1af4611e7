import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Devices that read a history whose contents were erased.
@Suite struct ErasureTests {
  private static let audience = Audience.conversation(SignedFamily.emily)

  /// A family in which device 4 and the guardian's device 2 read nothing yet.
  private static func home() -> (SignedFamily, text: Int, declined: Int) {
    var home = SignedFamily()
    for device: UInt32 in [2, 4] { home.disconnect(device) }
    let approved = home.ask("ada")
    home.answer(approved, "approve")
    home.guardian(1, .post(child: SignedFamily.emily, "secret"))
    let text = home.log.count - 1
    let declined = home.ask("eve")
    let asked = home.log.count - 1
    home.answer(declined, "decline")
    home.answer(home.ask("ben"), "approve")
    return (home, text, asked)
  }

  private func erase(_ home: inout SignedFamily, _ index: Int) throws {
    let event = try #require(home.log[index].erasingContent(digest: KeyVault.digest))
    home.machines.log[index] = try Event.decode(event.encode())
    #expect(home.log[index] == event && event.hash != ChainHash())
  }

  private func link(_ home: SignedFamily, _ device: UInt32) -> DeviceLink {
    home.children[device]?.link ?? home.guardians[device]!.link
  }

  /// A guardian permits a handle. Restarted devices have other numbers of prompts than the family.
  private func permit(_ home: inout SignedFamily, _ handle: String, by device: UInt32 = 1) {
    home.guardian(
      device,
      .changeContact(child: SignedFamily.emily, Handle(handle, .custom), known: true))
  }

  private func isUpToDate(_ home: SignedFamily, _ device: UInt32) -> Bool {
    link(home, device).delivered(Self.audience)
      == home.log.last { $0.audience == Self.audience }?.seq
  }

  @Test("O6: a device that reads later verifies the history without the erased contents")
  func later() throws {
    var (home, text, asked) = Self.home()
    try erase(&home, text)
    try erase(&home, asked)
    for device: UInt32 in [2, 4] { home.connect(device) }
    #expect(home.known(4) == ["ada", "ben"] && home.problems == [:] && home.lost.isEmpty)
    for device: UInt32 in [2, 4] {
      #expect(isUpToDate(home, device))
      let conversation = link(home, device).conversations[SignedFamily.emily]!
      #expect(!conversation.lines.contains { $0.body == .text("secret") })
      let state = try #require(conversation.questions.all.values.first { $0.question == nil })
      guard case .answered(let choice, _, _) = state.phase else { throw Problem.unknown }
      #expect(choice.answer == .denial)
    }
    // Both write and restart on the history.
    permit(&home, "bob", by: 2)
    for device: UInt32 in [2, 4] {
      home.disconnect(device)
      home.restore(device)
      home.connect(device)
    }
    permit(&home, "pa")
    for device: UInt32 in [3, 4] { #expect(home.known(device) == ["ada", "ben", "bob", "pa"]) }
    #expect(isUpToDate(home, 2) && isUpToDate(home, 4))
    #expect(home.problems == [:] && home.lost.isEmpty && home.appProblems == [:])
  }

  @Test("O6: a device erases its own records, restarts on them, and keeps all permissions")
  func device() throws {
    var (home, _, _) = Self.home()
    for device: UInt32 in [2, 4] { home.connect(device) }
    let end = home.now + .minutes(1)
    for device: UInt32 in [1, 3, 4] {
      home.disconnect(device)
      let before = home.machines.records(of: device).count
      let changes = erase(&home, device, endedBy: end)
      #expect(changes.count { if case .put = $0 { true } else { false } } == 2)
      #expect(erase(&home, device, endedBy: end).isEmpty, "a second time changes nothing")
      #expect(home.machines.records(of: device).count <= before)
      home.restore(device)
      home.connect(device)
      let conversation = link(home, device).conversations[SignedFamily.emily]!
      #expect(!conversation.lines.contains { $0.body == .text("secret") })
      #expect(conversation.questions.all.values.count { $0.question == nil } == 1)
    }
    permit(&home, "bob")
    for device: UInt32 in [3, 4] { #expect(home.known(device) == ["ada", "ben", "bob"]) }
    #expect(home.problems == [:] && home.lost.isEmpty && home.appProblems == [:])
  }

  @Test("O6: after a child's removal, a guardian's device erases the child's conversation")
  func removed() throws {
    var (home, _, _) = Self.home()
    let problem = home.change { roster in
      roster.persons.removeAll { $0.id == SignedFamily.emily }
      roster.devices.removeAll { $0.person == SignedFamily.emily }
    }
    #expect(problem == nil)
    home.disconnect(1)
    let day = ReportedWebDay(
      WebDay(Account.Day(year: 2026, month: 5, day: 1), seconds: 9), stamp: ID128(high: 1, low: 0),
      deletion: 0)
    let reports = [SignedFamily.emily, PersonID(99)].map {
      RecordChange.put(.webReport($0, DeviceID(3), day))
    }
    home.machines.persist(reports, of: 1)
    _ = erase(&home, 1, endedBy: Instant(milliseconds: 0))
    let kept = home.machines.records(of: 1).compactMap { record -> PersonID? in
      guard
        case .webReport(let person, _, _)? = try? DeviceRecord.decode(
          key: record.key.bytes, value: record.value)
      else { return nil }
      return person
    }
    #expect(kept == [PersonID(99)])
    let other = RecordChange.delete(.webReport(PersonID(99), DeviceID(3), day.day.day))
    home.machines.persist([other], of: 1)
    let contents = home.machines.records(of: 1).compactMap { record -> Event.Body? in
      guard
        case .event(let event)? = try? DeviceRecord.decode(
          key: record.key.bytes, value: record.value)
      else { return nil }
      return event.body.content != nil && !event.body.isErased ? event.body : nil
    }
    #expect(contents.isEmpty)
    home.restore(1)
    home.connect(1)
    #expect(home.problems == [:] && home.lost.isEmpty)
  }

  /// Erases contents in the records of a device, as its agent does before a start.
  private func erase(_ home: inout SignedFamily, _ device: UInt32, endedBy end: Instant)
    -> [RecordChange]
  {
    let records = home.machines.records(of: device)
      .map { try! DeviceRecord.decode(key: $0.key.bytes, value: $0.value) }
    let changes = DeviceErasure.changes(
      of: records, in: SignedFamily.family, endedBy: end, digest: KeyVault.digest)
    home.machines.persist(changes, of: device)
    return changes
  }

  @Test("O6: a relay that erases a withdrawal is reported")
  func withdrawal() throws {
    var (home, _, _) = Self.home()
    home.guardian(
      1, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: SignedFamily.app))
    )
    let index = home.log.count - 1
    guard case .withdrawn = home.log[index].body else { throw Problem.unknown }
    try erase(&home, index)
    home.connect(4)
    #expect(home.problems[4] == [.cannotOpen])
  }

  @Test("O6: an erased event with another digest is not what its signer signed")
  func digest() throws {
    var (home, text, _) = Self.home()
    try erase(&home, text)
    home.machines.log[text].body = .posted(
      child: SignedFamily.emily, .erased(KeyVault.digest([1])))
    home.connect(4)
    #expect(home.problems[4] == [.notSigned])
  }

  @Test("O6: another hash of an erased event contradicts the next signature")
  func hash() throws {
    var (home, text, _) = Self.home()
    try erase(&home, text)
    // The relay continues the chain after a hash of its own.
    home.relinks = true
    home.connect(4)
    #expect(home.problems[4]?.contains(.forked) ?? false)
    #expect(home.known(4) == ["ada"], "later approvals wait")
  }

  @Test("O6: an approved question without its content permits nothing")
  func approved() throws {
    var (home, _, _) = Self.home()
    let index = home.log.firstIndex { $0.body.newQuestion != nil }!
    try erase(&home, index)
    home.connect(4)
    #expect(home.known(4) == ["ben"] && home.problems == [:])
  }
}
