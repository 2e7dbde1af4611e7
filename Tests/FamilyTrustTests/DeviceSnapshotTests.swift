import FamilyModel
import FamilyTrust
import RelayWire
import Synchronization
import TestThreads
import Testing

@testable import FamilyCore

/// Devices that start from snapshots. `SignedFamily.restore` compares each with a device that replays
/// all events.
@Suite(.ownThread) struct DeviceSnapshotTests {
  private static let emily = SignedFamily.emily

  /// A family with questions, answers, texts, contacts and withdrawals, whose devices have started
  /// often enough to have snapshots.
  private func home(rounds: Int = 6) -> SignedFamily {
    var home = SignedFamily()
    for round in 1...rounds {
      let question = home.ask("ada\(round)", "ben")
      home.answer(question, round.isMultiple(of: 3) ? "decline" : "approve", by: 1)
      home.child(3, .post("Hello \(round)"))
      home.guardian(2, .post(child: Self.emily, "Yes \(round)"))
      home.guardian(1, SignedFamily.contact("eve", known: round.isMultiple(of: 2)))
      home.restartAll()
    }
    return home
  }

  private func snapshot(of device: UInt32, _ home: SignedFamily) -> [UInt8]? {
    if case .snapshot(let bytes)? = home.machines.disks[device]?[.snapshot] { bytes } else { nil }
  }

  @Test("O11: a device that starts from a snapshot equals one that replays all events")
  func equal() {
    let home = self.home()
    #expect(home.startsFromSnapshots > 10)
    #expect([1, 2, 3, 4].allSatisfy { snapshot(of: $0, home) != nil })
    #expect(home.problems.isEmpty && home.appProblems.isEmpty)
  }

  @Test(
    "O11: random histories with restarts end in equal states",
    arguments: 1...8 as ClosedRange<UInt64>)
  func random(_ seed: UInt64) {
    var home = SignedFamily()
    var source = IDSource(seed: seed)
    func below(_ count: UInt64) -> UInt64 { source.next() % count }
    var open: [QuestionID] = []
    for _ in 0..<60 {
      let (guardian, child) = (UInt32(1 + below(2)), UInt32(3 + below(2)))
      let handle = ["ada", "ben", "bob", "eve"][Int(below(4))]
      switch below(12) {
      case 0, 1: open.append(home.ask(handle, on: child))
      case 2, 3:
        if let id = open.popLast() {
          home.answer(id, below(2) == 0 ? "approve" : "decline", by: guardian)
        }
      case 4: if let id = open.popLast() { home.child(child, .cancel(id)) }
      case 5: home.child(child, .post("a"))
      case 6: home.guardian(guardian, .post(child: Self.emily, "b"))
      case 7: home.guardian(guardian, SignedFamily.contact(handle, known: below(2) == 0))
      case 8:
        home.guardian(
          guardian,
          .withdraw(child: Self.emily, .handle(Handle(handle, .custom), in: SignedFamily.app)))
      case 9: home.guardian(guardian, .setLimits(child: Self.emily, on: below(2) == 0))
      case 10: home.wait(.minutes(Int64(below(30))))
      default: home.restart(UInt32(1 + below(4)))
      }
    }
    home.restartAll()
    #expect(home.startsFromSnapshots > 0 && home.problems.isEmpty)
  }

  @Test("O11: a device makes a snapshot while it runs, and a kill starts from it")
  func running() {
    var home = SignedFamily()
    home.runningSnapshotInterval = 8
    home.restartAll()
    for round in 1...6 {
      let question = home.ask("ada\(round)")
      home.answer(question, "approve", by: 1)
      home.child(3, .post("Hello \(round)"))
    }
    #expect(home.requestedSnapshots >= 4)
    #expect([1, 2, 3, 4].allSatisfy { snapshot(of: $0, home) != nil })
    home.restartAll()
    #expect(home.startsFromSnapshots == 4 && home.problems.isEmpty)
    let made = home.requestedSnapshots
    home.child(3, .post("One more"))
    #expect(home.requestedSnapshots == made)
  }

  @Test("O11: a running device drops a snapshot that its store has overtaken")
  func overtaken() throws {
    var home = SignedFamily()
    (home.runningSnapshotInterval, home.holdsSnapshots) = (8, true)
    home.restartAll()
    for round in 1...8 { home.child(3, .post("Hello \(round)")) }
    let held = try #require(home.heldSnapshots.first { $0.device == 1 })
    let made = try #require(held.snapshot)
    // An event below the snapshot's position that the snapshot lacks.
    let coverage = try #require(SnapshotCoverage(of: made))
    for (seq, isStored) in [(coverage.seq, false), (coverage.seq + 1, true)] {
      var link = home.machines.guardians[1]!.link
      var out = DeviceLink.Output()
      link.storedWhileRequested(
        Event(
          seq: seq, previous: 0, audience: Audience(rawValue: 99), command: ID128(high: 1, low: 1),
          device: DeviceID(1), at: home.machines.now, body: .beat))
      link.storeSnapshot(made, held.number, into: &out)
      #expect((link.coverage == coverage) == isStored && out.changes.isEmpty != isStored)
      // The next start replays the events of a dropped snapshot, so the device makes another one.
      #expect((link.uncovered < 8) == isStored)
      guard isStored else { continue }
      link.dropSnapshot(into: &out)
      #expect(link.coverage == nil && link.uncovered >= Int(coverage.seq))
    }
    // A number of an earlier request, and a request without a snapshot.
    home.snapshotMade(held.number + 1, made, on: 1)
    #expect(snapshot(of: 1, home) == nil)
    var third = home
    third.snapshotMade(held.number, nil, on: 1)
    #expect(snapshot(of: 1, third) == nil)
    home.snapshotMade(held.number, made, on: 1)
    #expect(snapshot(of: 1, home) == made)
    home.snapshotMade(held.number, made, on: 1)
    home.restartAll()
    #expect(home.startsFromSnapshots > 0 && home.problems.isEmpty)
  }

  @Test("O11: a running device whose records allow no snapshot doubles its wait for the next one")
  func fruitless() {
    var home = SignedFamily()
    (home.runningSnapshotInterval, home.holdsSnapshots) = (8, true)
    home.restartAll()
    func texts(until count: Int) -> Int {
      for text in 1...200 {
        home.child(3, .post("Hello \(text)"))
        if home.heldSnapshots.count(where: { $0.device == 3 }) == count { return text }
      }
      return 0
    }
    var waits: [Int] = []
    for request in 1...4 {
      waits.append(texts(until: request))
      home.snapshotMade(UInt64(request), nil, on: 3)
    }
    #expect(waits == [waits[0], 20, 36, 68], "with a margin of 4")
    let made = texts(until: 5)
    let held = home.heldSnapshots.last { $0.device == 3 }!
    home.snapshotMade(held.number, held.snapshot, on: 3)
    #expect(home.machines.children[3]!.link.fruitlessRequests == 0 && made == 132)
  }

  @Test("O11: a snapshot is stored together with the reports that replace events, or not at all")
  func reports() {
    let home = self.home()
    var link = home.machines.guardians[1]!.link
    let snapshot = RecordChange.put(.snapshot([1]))
    let report = RecordChange.delete(.event(.family, seq: 1))
    (link.snapshotChange, link.reportChanges) = (snapshot, [])
    #expect(link.newSnapshot == [1])
    link.reportChanges = [report]
    #expect(link.newSnapshot == nil)
    #expect(link.takeStartChanges() == [report, snapshot])
    #expect(link.takeStartChanges().isEmpty && link.newSnapshot == nil)
  }

  @Test("O11: random histories with snapshots of running devices end in equal states")
  func randomRuns() {
    for seed: UInt64 in 1...12 {
      var home = SignedFamily()
      (home.runningSnapshotInterval, home.snapshotInterval) = (5, 3)
      var source = IDSource(seed: seed)
      func below(_ count: UInt64) -> UInt64 { source.next() % count }
      var open: [QuestionID] = []
      home.restartAll()
      for _ in 0..<60 {
        home.holdsSnapshots = below(2) == 0
        if !home.holdsSnapshots {
          let held = home.heldSnapshots
          home.heldSnapshots = []
          for made in held { home.snapshotMade(made.number, made.snapshot, on: made.device) }
        }
        switch below(7) {
        case 0, 1: open.append(home.ask(["ada", "ben"][Int(below(2))], on: UInt32(3 + below(2))))
        case 2: if let id = open.popLast() { home.answer(id, "approve", by: UInt32(1 + below(2))) }
        case 3: if let id = open.popLast() { home.child(UInt32(3 + below(2)), .cancel(id)) }
        case 4, 5: home.child(UInt32(3 + below(2)), .post("a"))
        default:
          let id = UInt32(1 + below(4))
          home.heldSnapshots.removeAll { $0.device == id }
          home.restart(id)
        }
      }
      home.restartAll()
      #expect(home.requestedSnapshots > 4 && home.startsFromSnapshots > 0, "seed \(seed)")
      #expect(home.problems.isEmpty, "seed \(seed)")
    }
  }

  @Test("O11: a start verifies the events after the snapshot only")
  func verifications() throws {
    let home = self.home()
    let vault = VerifyCountingVault(KeyVault(home.keys[3]!))
    var security = try #require(home.security(3))
    security.vault = vault
    let records = home.machines.records(of: 3)
      .map { try! DeviceRecord.decode(key: $0.key.bytes, value: $0.value) }
    func start(_ records: [DeviceRecord]) -> Int {
      let before = vault.count.withLock { $0 }
      _ = ChildMachine(
        home.address(3), of: Self.emily, apps: [SignedFamily.app], security: security,
        restoring: records, ids: IDSource(seed: 1))
      return vault.count.withLock { $0 } - before
    }
    let events = records.count { if case .event = $0 { true } else { false } }
    let later = records.withoutCovered.count { if case .event = $0 { true } else { false } }
    #expect(later < events / 2)
    #expect(start(records) == later)
    #expect(start(records.filter { $0.key != .snapshot }) >= events)
  }

  @Test("O11: a snapshot that is damaged, of another version or of another device is dropped")
  func dropped() throws {
    let home = self.home()
    let bytes = try #require(snapshot(of: 3, home))
    var flipped = bytes
    flipped[flipped.count / 2] ^= 1
    var version = bytes
    version[0] += 1
    let other = try #require(snapshot(of: 4, home))
    for bytes in [flipped, version, other, Array(bytes.dropLast()), [], [0]] {
      var home = home
      home.machines.disks[3]![.snapshot] = .snapshot(bytes)
      let starts = home.startsFromSnapshots
      home.snapshotInterval = 1_000
      home.restart(3)
      #expect(home.startsFromSnapshots == starts)
      #expect(snapshot(of: 3, home) == nil)
      #expect(home.known().contains("ada1"))
    }
  }

  @Test("O11: a position that a snapshot should cover and does not makes it useless")
  func coverage() throws {
    let home = self.home()
    let bytes = try #require(snapshot(of: 3, home))
    let coverage = try #require(SnapshotCoverage(of: bytes))
    let conversation = Audience.conversation(Self.emily)
    #expect(coverage.head(of: conversation) > 0 && coverage.seq >= coverage.head(of: .family))
    #expect(coverage.covers(conversation, 1))
    #expect(!coverage.lacks(conversation, coverage.seq + 1))
    // A child's device that joins a second conversation reads its history late.
    #expect(coverage.lacks(.account(PersonID(9)), coverage.seq))
    let late = Event(
      seq: coverage.seq, previous: 0, audience: .account(PersonID(9)),
      command: CommandID(high: 1, low: 1), device: DeviceID(1), at: home.now, body: .beat)
    let link = DeviceLink(
      home.address(3), of: Self.emily, home.security(3), isChild: true, hasApps: true,
      restoring: home.machines.records(of: 3) + [.event(late)], ids: IDSource(seed: 1))
    #expect(link.hasIgnoredSnapshot)
    // The shell has opened the snapshot before.
    var security = try #require(home.security(3))
    let opened = try #require(security.snapshots?.read(bytes))
    security.snapshots?.takeOpened = { opened }
    let records = home.machines.records(of: 3).filter { $0.key != .snapshot }
    for (records, isIgnored) in [(records, false), (records + [.event(late)], true)] {
      let link = DeviceLink(
        home.address(3), of: Self.emily, security, isChild: true, hasApps: true,
        restoring: records, ids: IDSource(seed: 1))
      #expect(link.hasIgnoredSnapshot == isIgnored && link.snapshots?.takeOpened == nil)
    }
  }

  @Test("O11: a relay that lost covered events drops the snapshot, and all comes back")
  func lost() throws {
    var lines: [[Line]] = []
    for interval in [6, 10_000] {
      var home = SignedFamily()
      home.snapshotInterval = interval
      for number in 1...5 { home.guardian(1, .post(child: Self.emily, "a\(number)")) }
      let copy = home.log
      for number in 1...20 { home.guardian(1, .post(child: Self.emily, "b\(number)")) }
      home.restartAll()
      home.restartAll()
      #expect((home.startsFromSnapshots > 0) == (interval == 6))
      home.restoreRelay(copy, connecting: [1, 2, 3, 4])
      home.wait(.minutes(30))
      #expect(interval > 6 || snapshot(of: 3, home) == nil)
      home.restartAll()
      home.wait(.minutes(5))
      lines.append(Array(try #require(home.children[3]!.conversation).lines))
    }
    #expect(lines[0].count == 25 && lines[0].map(\.body) == lines[1].map(\.body))
  }

  @Test("O11: a changed state needs another version of the format")
  func version() throws {
    let home = self.home()
    let child = try #require(home.children[3])
    let link = try #require(home.guardians[1]).link
    let shape = [child.link as Any, child.known, child.consents, link].map(Reflection.shape)
      .reduce(into: Set<String>()) { $0.formUnion($1) }.sorted()
    // FNV-1a. After a change, increment the version and replace both numbers. State that no snapshot
    // holds, such as the outbox, has its own records and needs no other version.
    let digest = shape.joined(separator: "\n").utf8
      .reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    #expect(SnapshotCoverage.formatVersion == 7)
    #expect(digest == 0x0299_F15F_96D6_45AA, "\(shape.count) properties: \(shape)")
  }

  @Test("O11: the store reveals no more with a snapshot than without")
  func sealed() throws {
    let home = self.home()
    for device: UInt32 in 1...4 {
      let bytes = try #require(snapshot(of: device, home))
      #expect(!bytes.contains(Array("Hello".utf8)) && !bytes.contains(Array("ada1".utf8)))
    }
  }
}

extension SignedFamily {
  /// Starts the device again from its durable records.
  mutating func restart(_ device: UInt32) {
    disconnect(device)
    restore(device)
    connect(device)
  }

  mutating func restartAll() { for device: UInt32 in 1...4 { restart(device) } }
}

/// A vault that counts verifications.
private final class VerifyCountingVault: DeviceVault {
  let count = Mutex(0)
  private let vault: KeyVault
  init(_ vault: KeyVault) { self.vault = vault }

  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    count.withLock { $0 += 1 }
    return vault.verify(publicKey, signature, bytes)
  }
  func sign(_ bytes: [UInt8]) -> [UInt8] { vault.sign(bytes) }
  func makeKey() -> [UInt8] { vault.makeKey() }
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content {
    vault.seal(content, name, key, binding: binding)
  }
  var agreementKey: [UInt8] { vault.agreementKey }
  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    vault.open(content, key, binding: binding)
  }
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] { vault.digest(bytes, under: key) }
  func bytes(of content: Content) -> [UInt8] { vault.bytes(of: content) }
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? {
    vault.wrap(key, for: reader, binding: binding)
  }
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    vault.unwrap(wrapped, binding: binding)
  }
  func keyName(of content: Content) -> ContentKeyID? { vault.keyName(of: content) }
}
