import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import RelayWire

/// A family in one process: the relay, the child's device and the guardians' devices.
///
/// The relay's pipeline and the devices' hosts are those of production. Messages arrive at once and
/// in order. Time stands still until the test moves the clock.
final class InMemoryFamily {
  /// The planned answer of a person to a prompt or a bubble.
  enum Plan: Sendable {
    case guardian(TestGuardian.Answer, delay: Milliseconds)
    case child(TestChild.Answer)
  }

  static let childID = PersonID(1)
  static let childDevice: UInt32 = 1
  static let organizerDevice: UInt32 = 2

  let people: TestFamily.People
  /// The keys of each person's device, in the order of the devices' numbers.
  private let keys: [DeviceKeys]
  /// The signatures that one device has verified, as in an agent with several devices.
  private let verified = SignatureCache()
  let app: AppID
  /// The first roster. A person without a family has one, too.
  let roster: Roster
  private let clock: FamilyClock
  /// The relay; `nil` for a person without a family.
  let relay: InMemoryRelay?
  /// The devices in the order of their numbers, the child's first.
  let devices: [InMemoryDevice]
  private var seeds = IDSource(seed: 1)
  var plans: [UInt32: Plan] = [:]
  /// The manifest of the installed app.
  var manifest: AppManifest
  /// The window names of the prompts shown so far, in order.
  var promptWindows: [String] = []
  /// The number of age prompts shown so far.
  var agePrompts = 0
  /// The person's answer to an age prompt.
  var agePlan = PromptAnswer.share
  /// The scripted check of pictures, instead of a worker process.
  var pictureCheck: @Sendable (Data) -> PictureVerdict = { _ in .clean }
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
    let clock = FamilyClock(now)
    self.clock = clock
    let keys = (0...people.guardians.count).map { _ in DeviceKeys() }
    self.keys = keys
    roster = people.roster(keys)
    relay = people.isInFamily ? InMemoryRelay(clock) : nil
    devices = (1...(people.isInFamily ? keys.count : 1)).map {
      InMemoryDevice(Self.address(UInt32($0)), clock)
    }
    if people.isInFamily { found() }
    for device in devices.dropFirst() {
      device.start(machine(of: device.number))
      run(device)
    }
    startChild()
  }

  private static func address(_ device: UInt32) -> DeviceAddress {
    DeviceAddress(family: FamilyID(1), device: DeviceID(device))
  }

  private func security(_ device: UInt32) -> Security {
    Security(KeyVault(keys[Int(device) - 1], sharing: verified), organizerKey: organizerKey)
  }

  private var organizerKey: [UInt8] { keys[Int(Self.organizerDevice) - 1].signingKey }

  /// The trust anchor of the child's apps.
  var appSecurity: AppSecurity {
    guard people.isInFamily else {
      return AppSecurity(family: FamilyID(0), child: Self.childID, organizerKey: [])
    }
    return AppSecurity(
      family: devices[0].address.family, child: Self.childID, organizerKey: organizerKey)
  }

  // MARK: the devices

  /// A new source of ids for each process of a device.
  private func newIDs() -> IDSource { IDSource(seed: seeds.next()) }

  private func machine(of guardian: UInt32) -> GuardianMachine {
    GuardianMachine(
      Self.address(guardian), of: PersonID(guardian), security: security(guardian),
      hostAnnouncesPresence: true, ids: newIDs())
  }

  /// Founds the family, as the administrator, with the roster that the organizer's device signed.
  private func found() {
    var organizer = machine(of: Self.organizerDevice)
    for signed in try! organizer.prepare(.setRoster(roster), now: now) {
      let command = Request.command(signed.id, signed.command, signed.signature)
      relay?.send(
        Envelope(device: Self.address(0), requestID: 1, request: command), from: 0)
    }
    exchange()
  }

  /// Starts the child's device from its durable records. An earlier process is killed.
  func startChild() {
    let device = devices[0]
    relay?.disconnect(device.number)
    let machine = ChildMachine(
      device.address, of: Self.childID, isInFamily: people.isInFamily, apps: [app],
      manifests: [app: manifest], security: security(device.number), hostAnnouncesPresence: true,
      restoring: device.records, ids: newIDs())
    device.start(machine, isInFamily: people.isInFamily)
    run(device)
  }

  /// The machine of the child's device.
  var child: ChildMachine { devices[0].child! }
  /// The durable records of the child's device.
  var records: [DeviceRecord] { devices[0].records }
  /// The machines of the guardians' devices.
  var guardians: [UInt32: GuardianMachine] {
    Dictionary(uniqueKeysWithValues: devices.dropFirst().map { ($0.number, $0.guardian!) })
  }
  /// Whether the child's device has a network.
  var isOnline: Bool { devices[0].isOnline }
  /// The family's clock.
  var now: Instant {
    get { clock.now }
    set { clock.now = newValue }
  }
}

extension TestFamily.People {
  /// The roster of these people, each with one device.
  fileprivate func roster(_ keys: [DeviceKeys]) -> Roster {
    var persons = [Person(id: PersonID(1), role: isChild ? .child : .adult, displayName: child)]
    for (index, name) in guardians.enumerated() {
      let role = index == 0 ? Role.organizer : .guardian
      persons.append(Person(id: PersonID(UInt32(index) + 2), role: role, displayName: name))
    }
    return Roster(
      persons: persons,
      devices: zip(persons, keys).map { person, keys in
        let number = person.id.rawValue
        return Device(
          id: DeviceID(number), person: person.id, publicKey: InMemoryRelay.key(of: number),
          keys: keys)
      })
  }
}
