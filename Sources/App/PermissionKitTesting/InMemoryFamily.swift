import FamilyCore
import FamilyHarness
import FamilyModel
import FamilyTrust

/// A family in one value: the relay's machine, the child's device and the guardians' devices.
///
/// The machines are those of production. Effects are carried out at once and in order. Time stands
/// still until the test moves the clock.
struct InMemoryFamily: FamilyDriver {
  /// The planned answer of a person to a prompt or a bubble.
  enum Plan: Sendable {
    case guardian(TestGuardian.Answer, delay: Milliseconds)
    case child(TestChild.Answer)
  }

  static let childID = PersonID(1)
  static let childDevice: UInt32 = 1
  static let organizerDevice: UInt32 = 2

  private let people: TestFamily.People
  /// The keys of each person's device.
  private let keys: [UInt32: DeviceKeys]
  let app: AppID
  /// The first roster. A person without a family has one, too.
  let roster: Roster
  var machines: FamilyMachines
  var plans: [UInt32: Plan] = [:]
  /// The manifest of the installed app.
  var manifest: AppManifest
  /// The window names of the prompts shown so far, in order.
  var promptWindows: [String] = []
  /// The number of age prompts shown so far.
  var agePrompts = 0
  /// The person's answer to an age prompt.
  var agePlan = PromptAnswer.share
  /// The answers that guardians will give, with their times.
  var plannedAnswers: [(at: Instant, device: UInt32, GuardianMachine.Input)] = []

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

  init(_ people: TestFamily.People, app: AppID, now: Instant) {
    self.people = people
    self.app = app
    manifest = AppManifest(usesDeclaredAgeRange: people.declaresAgeRange)
    machines = FamilyMachines(
      now: now, relay: RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest))
    let numbers = [Self.childDevice] + people.guardians.indices.map { UInt32($0) + 2 }
    let keys = Dictionary(uniqueKeysWithValues: numbers.map { ($0, DeviceKeys()) })
    self.keys = keys
    let guardians = people.guardians.enumerated().map { index, name in
      (role: index == 0 ? Role.organizer : .guardian, name: name)
    }
    roster = Roster(
      [(people.isChild ? .child : .adult, people.child)] + guardians,
      devices: numbers.map { id in
        Device(
          id: DeviceID(id), person: PersonID(id), publicKey: Device.curveKey(id), keys: keys[id]!)
      })
    if people.isInFamily { found(roster, organizer: Self.organizerDevice) }
    startChild()
    guard people.isInFamily else { return }
    for id in numbers.dropFirst() {
      machines.guardians[id] = GuardianMachine(
        address(id), of: PersonID(id), security: security(id), ids: machines.newIDs())
      connect(id)
    }
    connect(Self.childDevice)
  }

  func security(_ device: UInt32) -> Security? {
    Security(KeyVault(keys[device]!), organizerKey: keys[Self.organizerDevice]!.signingKey)
  }

  /// The trust anchor of the child's apps.
  var appSecurity: AppSecurity {
    guard people.isInFamily else {
      return AppSecurity(family: FamilyID(0), child: Self.childID, organizerKey: [])
    }
    return AppSecurity(
      family: Self.family, child: Self.childID,
      organizerKey: keys[Self.organizerDevice]!.signingKey)
  }

  /// The machine of the child's device.
  var child: ChildMachine { machines.children[Self.childDevice]! }

  private mutating func startChild() {
    machines.children[Self.childDevice] = ChildMachine(
      address(Self.childDevice), of: Self.childID, isInFamily: people.isInFamily, apps: [app],
      manifests: [app: manifest],
      security: security(Self.childDevice), restoring: machines.records(of: Self.childDevice),
      ids: machines.newIDs())
  }

  /// Kills the child's device and restores its machine from the durable records.
  mutating func restartChild() {
    startChild()
    if people.isInFamily, !machines.away.contains(Self.childDevice) { step(.connected) }
  }

  // MARK: inputs

  mutating func step(_ input: ChildMachine.Input) { child(Self.childDevice, input) }

  /// Steps a guardian's machine. A person without a family has no guardians.
  mutating func act(_ device: UInt32, _ input: GuardianMachine.Input) {
    if people.isInFamily { guardian(device, input) }
  }

  /// Sets the account, the limits and the guardians' answers of a sandbox case.
  mutating func set(_ sandbox: SandboxCase) {
    var settings = child.age.settings
    settings.sandbox = sandbox.answers == nil ? nil : sandbox
    let isChild = people.isChild && people.isInFamily
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
    let account = sandbox.account(Account.Day(utc: machines.now))
    guard people.isInFamily else { return step(.setOwnAccount(account)) }
    if isChild {
      act(Self.organizerDevice, .setAccount(Self.childID, account))
      act(Self.organizerDevice, .setLimits(child: Self.childID, on: sandbox.limitsOn))
    } else {
      step(.setOwnAccount(account))
    }
    for device in machines.guardians.keys.sorted() {
      let answer: TestGuardian.Answer = sandbox.consent == .approved ? .approve : .decline
      plans[device] = .guardian(answer, delay: .zero)
    }
    let isWithdrawn = child.consents.isWithdrawn(app)
    guard isWithdrawn != (sandbox.consent == .revoked) else { return }
    act(
      Self.organizerDevice,
      .withdraw(child: Self.childID, isWithdrawn ? .consentGiven(app) : .consent(app)))
  }

  /// Advances the clock to `end`, with all timers and planned answers on the way.
  ///
  /// Stops early at a launch or an end of the app, because `TestFamily` carries those out.
  mutating func advance(to end: Instant) {
    while machines.now < end, pendingLaunches == 0, !isTerminated {
      tick(to: min(end, plannedAnswers.map(\.at).min() ?? end))
      giveDueAnswers()
    }
  }
}
