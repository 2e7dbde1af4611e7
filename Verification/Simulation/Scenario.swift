import FamilyModel

/// What a seed stands for: the families, what their people do, and what breaks, each at its moment.
///
/// A run of fewer steps is a scenario, too: so failures shrink.
struct Scenario: Sendable {
  struct DevicePlan: Sendable {
    var family: Int
    var id: DeviceID
    var person: Person
    /// Otherwise an administrator adds it later.
    var isEnrolled: Bool
    var isGuardians: Bool { person.role.isGuardian }
  }

  struct Step: Sendable {
    /// Milliseconds since the run's start.
    var at: Int64
    var act: Act
  }

  /// The run's pseudo-random choices that no step names: delays, losses, what people answer.
  var seed: UInt64
  var families: Int
  var days: Int
  /// When everything that is broken is mended, in milliseconds since the start.
  var healing: Int64
  var devices: [DevicePlan] = []
  /// Families that the relay holds in memory.
  var maxFamilies: Int
  /// Results of commands that it holds in memory for each.
  var resultsKept = 64
  var steps: [Step] = []

  static let day: Int64 = 86_400_000
  static let apps = [AppID("example.landmarks"), AppID("example.other")]
  static let manifests = Dictionary(
    uniqueKeysWithValues: apps.map { ($0, AppManifest(usesDeclaredAgeRange: true)) })
  /// Ages of majority from 16 to 21, and a law that asks for sharing.
  static let regions = ["US", "FR", "KR", "GB-SCT", "US-MS", "US-TX"]
  static let gates: [[Int32]] = [[13, 16], [13, 16, 18], [9, 13], [16], [18], [12, 15], [21]]
  static let handles = [
    Handle("ada", .custom), Handle("bo", .custom), Handle("cy", .custom),
    Handle("+1 555-0100", .phoneNumber), Handle("+15550100", .phoneNumber),
    Handle("Ann@Example.org", .emailAddress),
  ]
}

/// One thing that somebody does, or that breaks. Devices are named by their place in the scenario.
enum Act: Sendable {
  // people and networks
  case online(Int)
  case offline(Int)
  case open(Int, app: Int)
  case ask(Int, app: Int, Inquiry)
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
  case addChild(Int)
  case administrate(family: Int, Change)
  case pry(Int, family: Int, Audience, generation: UInt32)

  // faults
  case crash(Process, boundaries: Int, power: Bool)
  case slow(Process, by: Int64, until: Int64)
  case link(Int, LinkFault, until: Int64)
  case cut(Int)
  case full(Process, until: Int64)
  case flip(Process)
  case clock(Process, by: Int64)
  case evict

  /// What the child is to ask.
  struct Inquiry: Sendable {
    var handles: [Handle]
    var id: QuestionID
    var manner: UInt8
    var hasThreeChoices: Bool
    /// Milliseconds until nobody can answer any more.
    var expiresAfter: Int64?
  }

  /// What an administrator changes.
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
    var delay: Int64 = 0
  }

  var isFault: Bool {
    switch self {
    case .crash, .slow, .link, .cut, .full, .flip, .clock, .evict: true
    default: false
    }
  }
}
