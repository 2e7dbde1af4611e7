@testable import FamilyCore
import FamilyModel
import Testing

private let teen = AgeRange(
  lower: 13, upper: 15, declaration: .guardianDeclared, controls: .communicationLimits)

@Suite struct AgeDeviceTests {
  @Test("D6: with ask first, shows a prompt for these gates and this person, then shares")
  func prompt() {
    var world = World.withAccount()
    world.askAge(1)
    #expect(world.agePrompts() == [teen])
    #expect(world.ageReply(1) == nil)
    world.answerPrompt(.share)
    #expect(world.ageReply(1) == .shared(teen))
    world.askAge(2)
    #expect(world.ageReply(2) == .shared(teen))
    #expect(world.agePrompts().count == 1 && world.ageNotices().isEmpty)
  }

  @Test("D3, D8: prompts again after a cancelled prompt, but not after a refusal") func declined() {
    var world = World.withAccount()
    world.askAge(1)
    world.answerPrompt(.cancel)
    #expect(world.ageReply(1) == .declined)
    world.askAge(2)
    world.answerPrompt(.dontShare)
    #expect(world.ageReply(2) == .declined)
    world.askAge(3)
    #expect(world.ageReply(3) == .declined)
    #expect(world.agePrompts().count == 2)
  }

  @Test("D6: shows one prompt per app, whose answer also settles the waiting requests")
  func onePrompt() {
    var world = World.withAccount()
    for number: UInt64 in 1...3 { world.askAge(number) }
    world.askAge(4, [18])
    world.askAge(1)
    #expect(world.agePrompts().count == 1)
    world.answerPrompt(.share)
    for number: UInt64 in 1...3 { #expect(world.ageReply(number) == .shared(teen)) }
    #expect(world.agePrompts().count == 2)
    world.answerPrompt(.dontShare)
    #expect(world.ageReply(4) == .declined)
  }

  @Test("D6: bounds the waiting requests of one app") func bounded() {
    var world = World.withAccount()
    for number in 1...20 as ClosedRange<UInt64> { world.askAge(number) }
    #expect(world.ageReply(16) == nil)
    #expect(world.ageReply(17) == .failed(.tooMany))
  }

  @Test("D6: with always, shares without a prompt and notifies of a new range") func always() {
    var world = World.withAccount()
    world.guardian(1, .setAge(World.emily, World.settings(.always)))
    for number: UInt64 in 1...3 { world.askAge(number) }
    #expect(world.ageReply(3) == .shared(teen))
    #expect(world.agePrompts().isEmpty && world.ageNotices() == [teen])
  }

  @Test("D6, D7: a guardian's settings take effect at once, also during a prompt")
  func atOnce() {
    var world = World.withAccount()
    world.askAge(1)
    world.guardian(2, .setAge(World.emily, World.settings(.never)))
    world.answerPrompt(.share)
    #expect(world.ageReply(1) == .declined)
    #expect(world.children[3]!.age.apps.isEmpty)
    world.guardian(1, .setAge(World.emily, World.settings(.never, apps: [World.app: .always])))
    world.askAge(2)
    #expect(world.ageReply(2) == .shared(teen))
  }

  @Test("D6: shares only the answer that the prompt showed, and prompts again if it changed")
  func shownIsShared() {
    var world = World.withAccount()
    world.askAge(1)
    let corrected = Account(
      birthdate: day(2017, 5, 17), region: "US", declaration: .guardianDeclared)
    world.guardian(1, .setAccount(World.emily, corrected))
    world.answerPrompt(.share)
    #expect(world.ageReply(1) == nil)
    #expect(world.agePrompts().map(\.upper) == [15, 12])
    world.answerPrompt(.share)
    guard case .shared(let range) = world.ageReply(1) else {
      Issue.record("not shared")
      return
    }
    #expect(range.upper == 12)
  }

  @Test("D7: a child's device changes settings only with a guardian's passcode")
  func onTheChildsDevice() {
    var world = World.withAccount()
    world.child(3, .setAge(World.settings(.always)))
    #expect(world.notices(on: 3) == [.noPasscode])
    world.guardian(1, .choosePasscode("258013"))
    world.child(3, .setAge(World.settings(.always)))
    world.type("111111")
    #expect(world.children[3]!.age.settings.sharing == .askFirst)
    world.type("258013")
    for id: UInt32 in [3, 4] { #expect(world.children[id]!.age.settings.sharing == .always) }
    #expect(world.guardians[2]!.link.age(of: World.emily).settings.sharing == .always)
  }

  @Test("D7: limits wrong passcode attempts for settings") func limited() {
    var world = World.withAccount()
    world.guardian(1, .choosePasscode("258013"))
    world.child(3, .setAge(World.settings(.always)))
    for _ in 0..<5 { world.type("111111") }
    world.type("258013")
    #expect(world.children[3]!.age.settings.sharing == .askFirst)
  }

  @Test("D7: rejects settings from modified software, and settings of other persons")
  func hostile() {
    var world = World.withAccount()
    let content = Content.ageSettings(World.settings(.always))
    #expect(world.command(3, .setAge(World.emily, content, proof: [])) == .noPasscode)
    world.guardian(1, .choosePasscode("258013"))
    #expect(world.command(3, .setAge(World.emily, content, proof: [])) == .noProof)
    #expect(world.command(5, .setAge(World.emily, content, proof: [])) == .notPermitted)
    #expect(world.command(3, .setAge(PersonID(4), content, proof: [])) == .notPermitted)
    #expect(world.command(1, .setAge(PersonID(4), content, proof: [])) == .notPermitted)
    #expect(world.command(1, .setAge(PersonID(9), content, proof: [])) == .unknown)
    #expect(world.command(5, .setAge(PersonID(4), content, proof: [])) == nil)
    // Settings in place of an age answer are rejected.
    #expect(world.command(3, .noteAge(World.emily, content)) == nil)
    world.wait(.seconds(2))
    #expect(world.children[4]!.age.settings == AgeSettings())
  }

  @Test("D7, T8: a passcode's signature is valid for one command, one child and one moment")
  func replayed() {
    var world = World.withAccount()
    world.guardian(1, .choosePasscode("258013"))
    let passcode = world.children[3]!.link.passcode!
    let content = Content.ageSettings(World.settings(.always))
    func proof(_ command: CommandID, _ child: PersonID = World.emily) -> [UInt8] {
      let bytes = InPerson.signedBytes(
        family: World.family, command: command, child: child, content: [])
      return FakePasscode.sign("258013", passcode, bytes)!
    }
    let id = world.nextForged
    let (other, old) = (CommandID(high: id.high, low: 99), CommandID(high: 0, low: 99))
    for wrong in [proof(other), proof(id, PersonID(4))] {
      #expect(
        world.request(3, .max, .command(id, .setAge(World.emily, content, proof: wrong)))
          == .noProof)
    }
    #expect(
      world.request(3, .max, .command(old, .setAge(World.emily, content, proof: proof(old))))
        == .proofOutdated)
    #expect(
      world.request(3, .max, .command(other, .setAge(World.emily, content, proof: proof(other))))
        == nil)
  }

  @Test("D6: an adult changes the own settings without a passcode") func adult() {
    let account = Account(birthdate: day(1984, 5, 17), region: "US", declaration: .selfDeclared)
    var world = World.withAccount(account, of: PersonID(4))
    world.child(5, .setAge(World.settings(.always)))
    world.askAge(1, on: 5)
    #expect(
      world.ageReply(1, on: 5)
        == .shared(AgeRange(lower: 16, upper: nil, declaration: .selfDeclared)))
  }

  @Test("D8: an answer survives a restart of the device") func restart() {
    var world = World.withAccount()
    world.askAge(1)
    world.answerPrompt(.share)
    world.now = world.now + .days(200)
    world.restoreChild(3, 3)
    world.connect(3)
    world.forgetSeen()
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.askAge(2)
    #expect(world.ageReply(2) == .shared(teen))
    #expect(world.agePrompts().isEmpty)
  }

  @Test("D10: the person's other device gives the same answer without a prompt")
  func otherDevice() {
    var world = World.withAccount()
    world.askAge(1, on: 3)
    world.answerPrompt(.share, on: 3)
    world.askAge(2, on: 4)
    #expect(world.ageReply(2, on: 4) == .shared(teen))
    #expect(world.agePrompts(on: 4).isEmpty)
    #expect(world.children[3]!.age == world.children[4]!.age)
  }

  @Test("D10: an offline answer applies at once and reaches the other device later") func offline()
  {
    var world = World.withAccount()
    world.disconnect(3)
    world.askAge(1)
    world.answerPrompt(.share)
    world.askAge(2)
    #expect(world.ageReply(2) == .shared(teen))
    #expect(world.agePrompts().count == 1)
    #expect(world.children[4]!.age.apps.isEmpty)
    world.connect(3)
    world.wait(.seconds(2))
    #expect(world.children[4]!.age == world.children[3]!.age)
    #expect(world.children[4]!.age.apps == [World.app])
  }

  @Test("D10: lists the answers, and guardians may delete them") func listed() {
    var world = World.withAccount()
    world.askAge(1)
    world.answerPrompt(.share)
    let memory = world.guardians[2]!.link.age(of: World.emily).memory(World.app)
    #expect(memory.answers.map(\.gates) == [[13, 16]])
    world.guardian(2, .forgetAge(World.emily, World.app))
    #expect(world.children[3]!.age.apps.isEmpty && world.children[4]!.age.apps.isEmpty)
    world.askAge(2)
    #expect(world.agePrompts().count == 2)
  }

  @Test(
    "D9: share again deletes the app's answers on all devices; the next answer has the current range"
  )
  func shareAgain() {
    var world = World.withAccount(
      Account(birthdate: day(2011, 5, 17), region: "US", declaration: .guardianDeclared))
    world.guardian(1, .setAge(World.emily, World.settings(.always)))
    world.askAge(1)
    world.now = world.now + .days(200)
    world.askAge(2)
    #expect(world.ageReply(2) == .shared(teen))
    world.child(4, .shareAgain(World.app))
    world.askAge(3)
    #expect(
      world.ageReply(3)
        == .shared(AgeRange(lower: 16, upper: nil, declaration: .guardianDeclared)))
    #expect(world.ageNotices().count == 2)
  }

  @Test("D11: not available without a birthdate, an account or a membership")
  func notAvailable() {
    var world = World.withAccount()
    world.askAge(1, on: 5)
    #expect(world.ageReply(1, on: 5) == .failed(.noAccount))
    world.askAge(2, nil, on: 5)
    #expect(world.ageReply(2, on: 5) == .failed(.noAccount))
    var alone = ChildMachine(
      world.address(9), of: PersonID(9), isInFamily: false, apps: [World.app],
      manifests: world.manifests, ids: IDSource(seed: 9), digest: { _, _ in [] })
    #expect(
      alone.step(.app(World.app, .age(1, gates: [13])), now: world.now)
        .contains(.app(World.app, .age(1, .failed(.noAccount)))))
  }

  @Test(
    "F7, D4: a person without a family declares the age on the own device, which remembers it")
  func alone() {
    var disk: [RecordKey: DeviceRecord] = [:]
    func device() -> ChildMachine {
      ChildMachine(
        DeviceAddress(family: World.family, device: DeviceID(9)), of: PersonID(9),
        isInFamily: false, apps: [World.app],
        manifests: [World.app: AppManifest(usesDeclaredAgeRange: true)],
        restoring: disk.values.sorted { "\($0.key)" < "\($1.key)" }, ids: IDSource(seed: 9),
        digest: { _, _ in [] })
    }
    func step(_ device: inout ChildMachine, _ input: ChildMachine.Input) -> [DeviceEffect] {
      device.step(input, now: World.november).filter { effect in
        guard case .persist(let changes) = effect else { return true }
        for case .put(let record) in changes { disk[record.key] = record }
        return false
      }
    }
    var teenager = device()
    let account = Account(birthdate: day(2012, 5, 17), region: "US", declaration: .selfDeclared)
    _ = step(&teenager, .setOwnAccount(account))
    _ = step(&teenager, .setAge(World.settings(.always)))
    let range = AgeRange(lower: 13, upper: 15, declaration: .selfDeclared)
    let reply = DeviceEffect.app(World.app, .age(1, .shared(range)))
    #expect(step(&teenager, .app(World.app, .age(1, gates: [13, 16]))).contains(reply))
    var again = device()
    #expect(again.age == teenager.age && again.age.apps == [World.app])
    #expect(step(&again, .app(World.app, .age(1, gates: [13, 16]))) == [reply])
  }

  @Test("D12: the device reports the region's duties and cannot decline") func law() {
    let texan = Account(birthdate: day(2012, 5, 17), region: "US-TX", declaration: .selfDeclared)
    var world = World.withAccount(texan)
    world.guardian(1, .setAge(World.emily, World.settings(.never)))
    world.askAge(1, nil)
    #expect(
      world.ageReply(1)
        == .status(
          isEligible: true,
          features: [.declaredAgeRangeRequired, .significantAppChangeRequiresParentalConsent]))
    world.askAge(2)
    guard case .shared = world.ageReply(2) else {
      Issue.record("not shared")
      return
    }
    #expect(world.agePrompts().isEmpty && world.ageNotices().count == 1)
    var elsewhere = World.withAccount()
    elsewhere.askAge(1, nil)
    #expect(elsewhere.ageReply(1) == .status(isEligible: false, features: []))
  }

  @Test("D12: the region's duties do not change on a birthday") func lawAndBirthday() {
    var replies: [AgeReply?] = []
    for born in [day(2008, 11, 21), day(2008, 11, 22), day(2020, 1, 1)] {
      let account = Account(birthdate: born, region: "US-TX", declaration: .selfDeclared)
      var world = World.withAccount(account)
      world.askAge(1, nil)
      replies.append(world.ageReply(1))
    }
    #expect(Set(replies).count == 1)
  }

  @Test("D13: refuses and does not launch an app above the child's ceiling") func ceiling() {
    var world = World.withAccount()
    world.guardian(1, .setAge(World.emily, World.settings(.always, ceiling: .four)))
    world.askAge(1)
    #expect(world.ageReply(1) == .failed(.ratedAbove))
    world.ask(World.question(1))
    #expect(world.seen[3]!.contains(.app(World.app, .failed(.ratedAbove))))
    world.guardian(1, .setAge(World.emily, World.settings(.always, ceiling: .nine)))
    world.askAge(2)
    #expect(world.ageReply(2) == .shared(teen))
  }

  @Test("D13: keeps the entries of an app above the ceiling until it is allowed again")
  func ceilingAndLaunch() {
    var world = World.withAccount()
    world.child(3, .app(World.app, .register))
    world.child(3, .app(World.app, .name([Handle("ada", .custom)])))
    world.child(3, .appGone(World.app, exited: true))
    world.guardian(1, .setAge(World.emily, World.settings(.always, ceiling: .four)))
    world.guardian(1, .changeContact(child: World.emily, Handle("ada", .custom), known: true))
    func launches() -> Int {
      (world.seen[3] ?? []).count { if case .launch = $0 { true } else { false } }
    }
    #expect(launches() == 0)
    world.wait(.seconds(30))
    #expect(world.children[3]!.deadline ?? world.now > world.now)
    world.guardian(1, .setAge(World.emily, World.settings(.always)))
    #expect(launches() == 1)
  }

  @Test("D14: refuses an app without a declaration, and shows no prompt")
  func manifest() {
    var world = World.withAccount()
    world.manifests = [:]
    world.restoreChild(3, 3)
    world.connect(3)
    world.forgetSeen()
    world.askAge(1)
    world.askAge(2, nil)
    #expect(world.ageReply(1) == .failed(.notDeclared))
    #expect(world.ageReply(2) == .failed(.notDeclared))
    #expect(world.agePrompts().isEmpty && world.ageNotices().isEmpty)
  }

  @Test("D2: uses the day of the account's time zone, wherever the device is") func timeZones() {
    // Emily turns 13 on the 22nd; the clock reads 23:30 UTC on the 21st.
    let account = Account(
      birthdate: day(2013, 11, 22), region: "US", declaration: .guardianDeclared, timeZone: "east")
    var world = World.withAccount(account)
    world.guardian(1, .setAge(World.emily, World.settings(.always)))
    world.children[3] = ChildMachine(
      world.address(3), of: World.emily, apps: [World.app], manifests: world.manifests,
      restoring: world.disks[3]!.values.sorted { "\($0.key)" < "\($1.key)" },
      ids: IDSource(seed: 77),
      calendar: { now, zone in
        Account.Day(utc: zone == "east" ? now + .hours(9) : now)
      }, digest: { _, _ in [] })
    world.connect(3)
    world.now = World.november + .hours(11) + .minutes(30)
    world.askAge(1, [13])
    guard case .shared(let range) = world.ageReply(1) else {
      Issue.record("not shared")
      return
    }
    #expect(range.lower == 13)
  }
}
