import FamilyCore
import FamilyHarness
import FamilyModel
import RelayWire

/// The messages that a child's device sent to its app on an ordinary day, and the handles that
/// guardians approved.
private let day: (replies: [AppReply], approved: Set<Handle>) = {
  var house = Household()
  house.recordsReplies = true
  house.guardian(10, .choosePasscode("258013"))
  for (index, name) in ["ada", "ben", "eve"].enumerated() {
    house.ask(Handle(name, .custom), on: 30, .byMessage)
    house.answer(index == 1 ? "decline" : "approve", by: index == 0 ? 10 : 20)
  }
  house.ask(Handle("bob", .custom), on: 30, .inPerson)
  house.ask(Handle("+15550101", .phoneNumber), on: 31, .byMessage)
  house.answer("approve", by: 11)
  house.manageChild()
  house.guardian(10, .withdraw(child: Household.child, .handle(Handle("ada", .custom), in: nil)))
  let phone = Handle("+15550100", .phoneNumber)
  house.approved.insert(phone.canonical)
  house.guardian(20, .changeContact(child: Household.child, phone, known: true))
  house.guardian(20, .withdraw(child: Household.child, .consent(Household.app)))
  house.guardian(10, .withdraw(child: Household.child, .consentGiven(Household.app)))
  var roster = house.machines.guardians[10]?.link.roster ?? Roster()
  roster.devices.removeAll { $0.id.rawValue == 20 }
  house.guardian(10, .setRoster(roster))
  house.app(30, .connected)
  house.wait(.minutes(1))
  return (house.replies, house.approved)
}()

extension Household {
  /// The app asks to manage the child and to show a site, and uses what the guardians allow.
  fileprivate mutating func manageChild() {
    let site = Site("site0.example")!
    var rules = WebRules()
    rules.others = .ask
    guardian(10, .changeSettings(Household.child, .webRules(rules)))
    guardian(10, .changeSettings(Household.child, .communicationSafety(.simple)))
    app(30, .handleMoments)
    app(30, .sites([site]))
    app(30, .safety)
    ask(Topic.browse(site), on: 30, .byMessage)
    answer("approve", by: 10)
    ask(Topic.authorization, on: 30, .byMessage)
    answer("approve", by: 11)
    var settings = ManagedSettings()
    settings.sites = .specific([site])
    app(30, .manage("store0", settings))
    let start = machines.now + .minutes(1)
    let activity = Activity("activity0", number: 1, from: start, to: start + .hours(1))
    app(30, .watch(activity, schedule: []))
    app(30, .useWeb(ShownPages(seconds: 60, sites: [site: 60]), at: machines.now))
    wait(.minutes(2))
  }
}

/// Runs an app whose device has genuine signatures of guardians, and repeats, reorders, mixes and
/// changes what they sign.
///
/// The invariants: no trap, no handle that no guardian approved, and records that restore the app.
func fuzzAppDevice(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  let security = AppSecurity(
    family: Household.family, child: Household.child, organizerKey: IdealVault.key(10))
  var app = AppMachine(Household.app, trusting: (security, IdealVault(number: 0)))
  var disk: [[UInt8]: [UInt8]] = [:]
  // The device's own signatures prove nothing, and those of a guardian prove what they cover.
  let hasGuardianKey = input.byte() & 7 == 7
  run(&app, .subscribe(.communication), &disk)
  run(&app, .connected, &disk)
  // Most runs begin with the genuine start of a session.
  if !input.isRare(4) { for reply in day.replies.prefix(6) { run(&app, .reply(reply), &disk) } }
  var steps = 0
  while !input.isAtEnd, steps < 64 {
    steps += 1
    switch input.pick(16) {
    case 0: app = restored(disk, security, like: app)
    case 1: run(&app, .connected, &disk)
    case 2: run(&app, .consumed(UInt64(input.byte())), &disk)
    case 3:
      let handle = input.handle()
      // The app's library validates the values of the app's code.
      if (try? handle.validate()) != nil { run(&app, .name([handle.canonical]), &disk) }
    case 4:
      let question = input.question(Household.start)
      guard (try? question.validate(now: Household.start)) != nil else { continue }
      run(&app, .ask(question, .byMessage), &disk)
    case 5: run(&app, input.manage(), &disk)
    default:
      let reply = input.change(input.any(day.replies), hasGuardianKey)
      guard let received = try? reply.encode().withUnsafeBytes({ try AppReply.decode($0) }) else {
        continue
      }
      run(&app, .reply(received), &disk)
    }
    guard !hasGuardianKey else { continue }
    for handle in app.known.sorted() {
      precondition(day.approved.contains(handle), "the app knows \(handle.value)")
    }
  }
  _ = restored(disk, security, like: app)
}

private func run(
  _ app: inout AppMachine, _ input: AppMachine.Input, _ disk: inout [[UInt8]: [UInt8]]
) {
  for effect in app.step(input) {
    guard case .persist(let changes) = effect else { continue }
    for change in changes {
      switch change {
      case .put(let record): disk[record.key] = record.value
      case .remove(let record): disk[record.key] = nil
      case .forgetAll: disk = disk.filter { $0.key.first != AppRecord.knownPrefix[0] }
      }
    }
  }
}

/// The app after a restart. The device then repeats the rosters.
private func restored(
  _ disk: [[UInt8]: [UInt8]], _ security: AppSecurity, like app: AppMachine
) -> AppMachine {
  let records = disk.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, value in
    guard let record = try? AppRecord.decode(key: key, value: value) else {
      fatalError("an app's record cannot be decoded")
    }
    return record
  }
  let restored = AppMachine(
    Household.app, trusting: (security, IdealVault(number: 0)), restoring: records)
  precondition(restored.known == app.known, "a restored app knows other handles")
  precondition(
    restored.isConsentWithdrawn == app.isConsentWithdrawn, "a restored app has another consent")
  return restored
}
