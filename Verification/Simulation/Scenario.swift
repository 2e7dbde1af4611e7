import FamilyModel

/// The families of a run and its steps: actions of people and faults, each at its time. A seed
/// determines it.
///
/// Any subset of the steps is also a scenario, which is how a failing run shrinks.
struct Scenario: Sendable {
  struct DevicePlan: Sendable {
    var family: Int
    var id: DeviceID
    var person: Person
    /// Whether the device is in the first roster; otherwise an administrator may add it later.
    var isEnrolled: Bool
    var isGuardians: Bool { person.role.isGuardian }
  }

  struct Step: Sendable {
    /// Milliseconds since the run's start.
    var at: Milliseconds
    var act: Act
  }

  /// Seeds the random choices that no step fixes: delays, losses, people's answers.
  var seed: UInt64
  var families: Int
  var days: Int
  /// When all faults end, as a time since the start.
  var healing: Milliseconds
  var devices: [DevicePlan] = []
  /// The number of families that the relay holds in memory.
  var maxFamilies: Int
  /// The number of command results that the relay caches for each family.
  var resultsKept = 64
  var steps: [Step] = []
  /// The device of the dishonest member; `nil` without one.
  var dishonest: Int?
  /// The time of the dishonest member's last act.
  var lastAttack = Milliseconds.zero

  static let apps = [AppID("example.landmarks"), AppID("example.other")]
  static let manifests = Dictionary(
    uniqueKeysWithValues: apps.map { ($0, AppManifest(usesDeclaredAgeRange: true)) })
  /// Regions with ages of majority from 18 to 21; one of them requires sharing.
  static let regions = ["US", "FR", "KR", "GB-SCT", "US-MS", "US-TX"]
  static let gates: [[Int32]] = [[13, 16], [13, 16, 18], [9, 13], [16], [18], [12, 15], [21]]
  static let handles = [
    Handle("ada", .custom), Handle("bo", .custom), Handle("cy", .custom),
    Handle("+1 555-0100", .phoneNumber), Handle("+15550100", .phoneNumber),
    Handle("Ann@Example.org", .emailAddress),
  ]
}

/// An action of a person or a fault. Devices are indices into ``Scenario/devices``.
enum Act: Sendable {
  // people and networks
  case online(Int)
  case offline(Int)
  case open(Int, app: Int)
  case ask(Int, app: Int, QuestionPlan)
  case post(Int)
  case cancel(Int)
  case withdraw(Int, Handle, everywhere: Bool)
  case withdrawConsent(Int, app: Int)
  case contact(Int, Handle, known: Bool)
  case limits(Int, on: Bool)
  case passcode(Int, String)
  case account(Int, Account)
  case askAge(Int, app: Int, gates: [Int32])
  case shareAgain(Int, app: Int)
  case ageSettings(Int, AgeSettings)
  /// A guardian changes a setting of a child.
  case setting(Int, Content)
  case browse(Int, app: Int, Site)
  case authorize(Int, app: Int)
  case manage(Int, app: Int, ManagedSettings)
  case showPages(Int, app: Int, Site, seconds: UInt32)
  case deleteHistory(Int, app: Int, WebHistoryPart)
  case addChild(Int)
  case administrate(family: Int, Change)
  case eavesdrop(Int, family: Int, Audience)
  /// Acts of the dishonest member, drawn from a seed.
  case attack(Int, UInt64)
  /// A guardian removes the dishonest member's device.
  case expel(Int, Int, withPlants: Bool)

  // faults
  case crash(Process, boundaries: Int, power: Bool)
  case slow(Process, by: Milliseconds, until: Milliseconds)
  case link(Int, LinkFault, until: Milliseconds)
  case cut(Int)
  case disk(Process, DiskFault, until: Milliseconds)
  case flip(Process)
  case clock(Process, by: Milliseconds)
  case evict

  /// A question for a child to ask.
  struct QuestionPlan: Sendable {
    var handles: [Handle]
    var id: QuestionID
    var manner: UInt8
    var hasThreeChoices: Bool
    /// Milliseconds from asking to expiration; `nil` for none.
    var expiresAfter: Milliseconds?
  }

  /// A change that an administrator makes to a family.
  enum Change: Sendable {
    case add(Int)
    case remove(Int)
    case limits(PersonID, on: Bool)
  }

  enum Process: Hashable, Sendable {
    case relay
    case device(Int)
    case app(Int, Int)
  }

  struct LinkFault: Sendable {
    var losesPercent = 0
    var repeatsPercent = 0
    var reorders = false
    var blocksUp = false
    var blocksDown = false
    var delay = Milliseconds.zero
  }

  var isFault: Bool {
    switch self {
    case .crash, .slow, .link, .cut, .disk, .flip, .clock, .evict: true
    default: false
    }
  }
}
