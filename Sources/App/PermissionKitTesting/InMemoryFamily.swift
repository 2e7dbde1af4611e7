import FamilyCore
import FamilyModel
import FamilyTrust

/// A family in one value: the relay's machine, the child's device and the guardians' devices.
///
/// The machines are those of production. Effects are carried out at once and in order. Time stands
/// still until the test moves the clock.
struct InMemoryFamily {
  /// The planned answer of a person to a prompt or a bubble.
  enum Plan: Sendable {
    case guardian(TestGuardian.Answer, delay: Milliseconds)
    case child(TestChild.Answer)
  }

  static let family = FamilyID(1)
  static let childID = PersonID(1)
  static let childDevice = DeviceID(1)
  static let organizerDevice = DeviceID(2)

  /// The keys of a person's device.
  private let keys: [DeviceID: DeviceKeys]
  let app: AppID
  let manifest: AppManifest
  var now: Instant
  var roster: Roster
  var relay: RelayMachine
  var log: [Event] = []
  var child: ChildMachine
  var guardians: [DeviceID: GuardianMachine] = [:]
  var plans: [DeviceID: Plan] = [:]
  /// The number of age prompts shown so far.
  var agePrompts = 0
  /// The person's answer to an age prompt.
  var agePlan = PromptAnswer.share
  /// The answers that guardians will give, with their times.
  var plannedAnswers: [(at: Instant, DeviceID, GuardianMachine.Input)] = []
  /// The devices without a network connection.
  var offline: Set<DeviceID> = []
  var disk: [RecordKey: DeviceRecord] = [:]
  var ids = IDSource(seed: 1)

  /// The running process of the app.
  var process: AppProcess?
  /// Whether the app can be launched in the background; otherwise each launch fails at once.
  var isLaunchable = false
  /// The number of launches by the device so far.
  var launches = 0
  /// The launches that the test kit has yet to carry out.
  var pendingLaunches = 0
  /// Whether the device has terminated the app since the last `TestFamily.perform`.
  var isTerminated = false
  var notices: [Notice] = []
  var queue: [(DeviceID, DeviceEffect)] = []

  init(_ people: TestFamily.People, app: AppID, now: Instant) {
    self.app = app
    self.now = now
    let numbers = [Self.childDevice] + people.guardians.indices.map { DeviceID(UInt32($0) + 2) }
    let keys = Dictionary(uniqueKeysWithValues: numbers.map { ($0, DeviceKeys()) })
    self.keys = keys
    func device(_ id: DeviceID, _ person: PersonID) -> Device {
      Device(id: id, person: person, publicKey: Self.key(id), keys: keys[id]!)
    }
    let role: Role = people.isChild ? .child : .adult
    var persons = [Person(id: Self.childID, role: role, displayName: people.child)]
    var devices = [device(Self.childDevice, Self.childID)]
    for (index, name) in people.guardians.enumerated() {
      let id = PersonID(UInt32(index) + 2)
      persons.append(
        Person(id: id, role: index == 0 ? .organizer : .guardian, displayName: name))
      devices.append(device(DeviceID(id.rawValue), id))
    }
    roster = Roster(persons: persons, devices: devices)
    relay = RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest)
    manifest = AppManifest(usesDeclaredAgeRange: people.declaresAgeRange)
    let childSecurity = Security(
      KeyVault(keys[Self.childDevice]!), organizerKey: keys[Self.organizerDevice]!.signingKey)
    child = Self.childMachine(
      people.isInFamily, app, manifest, childSecurity, [], self.ids.next())
    guard people.isInFamily else { return }
    relay.load(Self.family, events: [], cursors: [], now: now)
    enroll(roster)
    for device in roster.devices.dropFirst() {
      guardians[device.id] = GuardianMachine(
        DeviceAddress(family: Self.family, device: device.id), of: device.person,
        security: security(device.id), ids: IDSource(seed: ids.next()))
      act(device.id, .connected)
    }
    step(.connected)
  }

  private func security(_ id: DeviceID) -> Security {
    Security(KeyVault(keys[id]!), organizerKey: keys[Self.organizerDevice]!.signingKey)
  }

  /// The trust anchor of the child's apps.
  var appSecurity: AppSecurity {
    guard relay.holds(Self.family) else {
      return AppSecurity(family: FamilyID(0), child: Self.childID, organizerKey: [])
    }
    return AppSecurity(
      family: Self.family, child: Self.childID,
      organizerKey: keys[Self.organizerDevice]!.signingKey)
  }

  private static func key(_ device: DeviceID) -> [UInt8] {
    Array(repeating: UInt8(truncatingIfNeeded: device.rawValue), count: 32)
  }

  private static func childMachine(
    _ isInFamily: Bool, _ app: AppID, _ manifest: AppManifest, _ security: Security,
    _ records: [DeviceRecord],
    _ seed: UInt64
  ) -> ChildMachine {
    ChildMachine(
      DeviceAddress(family: family, device: childDevice), of: childID, isInFamily: isInFamily,
      apps: [app], manifests: [app: manifest], security: security, restoring: records,
      ids: IDSource(seed: seed))
  }

  /// Kills the child's device and restores its machine from the durable records.
  mutating func restartChild(isInFamily: Bool) {
    child = Self.childMachine(
      isInFamily, app, manifest, security(Self.childDevice),
      disk.values.sorted { "\($0.key)" < "\($1.key)" }, ids.next())
    if isInFamily, !offline.contains(Self.childDevice) { step(.connected) }
  }

  // MARK: inputs

  mutating func step(_ input: ChildMachine.Input) {
    queue += child.step(input, now: now).map { (Self.childDevice, $0) }
    drain()
  }

  mutating func act(_ device: DeviceID, _ input: GuardianMachine.Input) {
    queue += (guardians[device]?.step(input, now: now) ?? []).map { (device, $0) }
    drain()
  }

  /// Enrolls the family at the relay, as the administrator, with a roster that the organizer
  /// signed.
  private mutating func enroll(_ roster: Roster) {
    var organizer = GuardianMachine(
      DeviceAddress(family: Self.family, device: Self.organizerDevice), of: PersonID(2),
      security: security(Self.organizerDevice), ids: IDSource(seed: ids.next()))
    for signed in try! organizer.prepare(.setRoster(roster), now: now) {
      relayStep(
        .request(
          DeviceAddress(family: Self.family, device: DeviceID(0)), key: [], administrator: true,
          id: 1, .command(signed.id, signed.command, signed.signature)))
    }
    drain()
  }

  mutating func request(of device: DeviceID, _ id: UInt64, _ request: Request) {
    guard !offline.contains(device) else { return }
    relayStep(
      .request(
        DeviceAddress(family: Self.family, device: device), key: Self.key(device),
        administrator: false, id: RequestID(id), request))
  }

  /// Sets the account, the limits and the guardians' answers of a sandbox case.
  mutating func set(_ sandbox: SandboxCase) {
    var settings = child.age.settings
    settings.sandbox = sandbox.answers == nil ? nil : sandbox
    let isChild = roster.person(Self.childID)?.role == .child && relay.holds(Self.family)
    if settings != child.age.settings {
      if isChild {
        act(Self.organizerDevice, .setAge(Self.childID, settings))
      } else {
        step(.setAge(settings))
      }
    }
    if sandbox.answers != nil {
      if isChild { act(Self.organizerDevice, .setLimits(child: Self.childID, on: true)) }
      return
    }
    let account = sandbox.account(Account.Day(utc: now))
    guard relay.holds(Self.family) else { return step(.setOwnAccount(account)) }
    if isChild {
      act(Self.organizerDevice, .setAccount(Self.childID, account))
      act(Self.organizerDevice, .setLimits(child: Self.childID, on: sandbox.limitsOn))
    } else {
      step(.setOwnAccount(account))
    }
    for device in guardians.keys.sorted() {
      let answer: TestGuardian.Answer = sandbox.consent == .approved ? .approve : .decline
      plans[device] = .guardian(answer, delay: .zero)
    }
    if sandbox.consent == .revoked {
      act(Self.organizerDevice, .withdraw(child: Self.childID, .consent(app)))
    }
  }

  /// Advances the clock to `end`, with all timers and planned answers on the way.
  ///
  /// Stops early at a launch or an end of the app, because `TestFamily` carries those out.
  mutating func advance(to end: Instant) {
    while pendingLaunches == 0, !isTerminated {
      let deadlines =
        [relay.deadline, child.deadline, plannedAnswers.map(\.at).min()]
        + guardians.values.map(\.deadline)
      guard let next = deadlines.compactMap({ $0 }).min(), next <= end else {
        return now = max(now, end)
      }
      // The clock moves at least 1 ms per round, so that an overdue deadline cannot stop time.
      now = max(now + .milliseconds(1), next)
      if let due = relay.deadline, due <= now { relayStep(.timer) }
      drain()
      if let due = child.deadline, due <= now { step(.timer) }
      for device in guardians.keys.sorted() {
        if let due = guardians[device]!.deadline, due <= now { act(device, .timer) }
      }
      giveDueAnswers()
      drain()
    }
  }
}
