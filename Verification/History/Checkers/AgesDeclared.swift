import FamilyCore
public import FamilyModel

/// Checks that apps and devices learn about an age only what was declared.
///
/// - A device holds a birthdate only if its person is or was in that account's audience.
/// - An app receives a range only with consent: of the person, the settings or the region's law.
/// - The bounds of a range are gates of the app's requests, at most the age of majority.
/// - A bounded range spans at least two years and contains a declared birthdate.
/// - At the end all devices remember the same answers to apps.
public struct AgesDeclared: Checker {
  public let name = "no age but what was declared"
  private let regions: RegionTable
  /// Creates the checker for devices with this table of regions.
  public init(regions: RegionTable = .standard) { self.regions = regions }

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var models: [FamilyID: AgeModel] = [:]
    for family in log.families.keys.sorted() {
      let model = AgeModel(log.rosters(family), log.counted(family), regions)
      guard !model.isSealed else { return .unknown("the store's contents are sealed") }
      models[family] = model
    }
    var progress = Progress(start: history.entries.first?.at ?? Instant(milliseconds: 0))
    for (index, entry) in history.entries.enumerated() {
      switch entry.fact {
      case .applied(let device, let audience, let seq, _):
        if audience.accountPerson != nil {
          progress.held[device] = max(progress.held[device] ?? 0, seq)
        }
      case .requestedAge(let app, let gates): progress.gates[app.app, default: []].formUnion(gates)
      case .consented(let app): progress.agreed.insert(app)
      case .holdsBirthdate(let device, let person):
        let rosters = models[device.family]?.rosters ?? []
        if AudienceKept.end(of: device, .account(person), rosters) == 0 {
          return .violated("device \(device.device.rawValue) has a foreign birthdate", at: index)
        }
      case .ageShared(let app, let range):
        if let what = models[app.device.family]?.wrong(range, app, progress, now: entry.at) {
          return .violated(what, at: index)
        }
      case .remembersAge(let device, let person, let app, let memory):
        let name = Progress.Memory(family: device.family, person: person, app: app)
        if progress.memories[name, default: memory] != memory {
          return .violated("devices remember different answers to an app", at: index)
        }
        progress.memories[name] = memory
      default: break
      }
    }
    return .ok
  }
}

/// The relevant facts up to an entry of the history.
private struct Progress {
  struct Memory: Hashable {
    var family: FamilyID
    var person: PersonID
    var app: AppID
  }
  let start: Instant
  /// The last account event that each device has applied.
  var held: [DeviceAddress: UInt64] = [:]
  /// All gates that an app requested, because a cached answer may repeat earlier gates.
  var gates: [AppID: Set<Int32>] = [:]
  var agreed: Set<AppAddress> = []
  var memories: [Memory: AgeMemory] = [:]
}

/// The accounts and age settings of a family, rebuilt from its log.
private struct AgeModel {
  let rosters: [(seq: UInt64, roster: Roster)]
  private var accounts: [PersonID: [(seq: UInt64, account: Account)]] = [:]
  private var settings: [PersonID: [(seq: UInt64, settings: AgeSettings)]] = [:]
  /// The day on which each person's account was made.
  private var made: [PersonID: Account.Day] = [:]
  private let regions: RegionTable
  private(set) var isSealed = false

  init(
    _ rosters: [(seq: UInt64, roster: Roster)], _ events: [Event], _ regions: RegionTable
  ) {
    self.rosters = rosters
    self.regions = regions
    for event in events {
      switch event.body {
      case .accountChanged(let person, .account(let account)):
        accounts[person, default: []].append((event.seq, account))
        made[person] = made[person] ?? Account.Day(utc: event.at)
      case .ageSet(let person, .ageSettings(let new), _):
        settings[person, default: []].append((event.seq, new))
      case .accountChanged(_, .sealed), .ageSet(_, .sealed, _): isSealed = true
      default: break
      }
    }
  }

  /// The reason why the app must not receive this range; `nil` if it may.
  func wrong(_ range: AgeRange, _ app: AppAddress, _ progress: Progress, now: Instant) -> String? {
    let owners = rosters.compactMap { $0.roster.owner(of: app.device.device)?.id }
    guard let person = owners.last else { return "an app on a non-member's device received an age" }
    let held = progress.held[app.device] ?? 0
    // A cached answer stays valid, so the range may follow from any account that the device has
    // held.
    let accounts = (accounts[person] ?? []).filter { $0.seq <= held }.map(\.account)
    let settings =
      [AgeSettings()] + (settings[person] ?? []).filter { $0.seq <= held }.map(\.settings)
    let days = Self.days(from: progress.start, to: now)
    let laws = laws(accounts, of: person, on: days)
    let mayTell =
      laws.contains(where: \.mustShare)
      || settings.contains { $0.sharing(with: app.app) == .always }
      || progress.agreed.contains { $0.app == app.app && isOwner(person, of: $0.device) }
    guard mayTell else { return "an app received an age without consent" }
    let gates = progress.gates[app.app] ?? []
    guard accounts.contains(where: { fits(range, $0, person, days, gates) }) else {
      return "an app received an undeclared age"
    }
    if !range.controls.isEmpty,
      !laws.contains(where: { range.upper ?? .max < max($0.majority, $0.minorBelow) })
    {
      return "an app received an adult's parental controls"
    }
    return nil
  }

  private func isOwner(_ person: PersonID, of device: DeviceAddress) -> Bool {
    rosters.contains { $0.roster.owner(of: device.device)?.id == person }
  }

  /// The law of the accounts' regions on these days.
  private func laws(_ accounts: [Account], of person: PersonID, on days: [Account.Day])
    -> Set<Region>
  {
    Set(
      accounts.flatMap { account in
        days.map {
          regions.region(account.region, accountMade: made[person] ?? $0, on: $0)
        }
      })
  }

  private func fits(
    _ range: AgeRange, _ account: Account, _ person: PersonID, _ days: [Account.Day],
    _ gates: Set<Int32>
  ) -> Bool {
    guard let birthdate = account.birthdate else { return false }
    let laws = laws([account], of: person, on: days)
    // No simulated run crosses a change of an age of majority.
    guard let majority = laws.first?.majority else { return false }
    let bounds = Set((gates + laws.flatMap(\.gates)).map { min($0, majority) })
    if let lower = range.lower, !bounds.contains(lower) { return false }
    if let upper = range.upper, !bounds.contains(upper + 1) { return false }
    if let lower = range.lower, let upper = range.upper, upper - lower < 1 { return false }
    return days.contains { day in
      let age = birthdate.years(to: day)
      guard age >= range.lower ?? .min, age <= range.upper ?? .max else { return false }
      return range.declaration.map {
        $0 == account.declaration.disclosed(age: age, majority: majority, isInFamily: true)
      } ?? true
    }
  }

  /// The possible days of the first answer. Clocks are wrong by less than a day.
  private static func days(from start: Instant, to now: Instant) -> [Account.Day] {
    stride(
      from: (start - .days(1)).milliseconds, through: (now + .days(1)).milliseconds, by: 86_400_000
    ).map { Account.Day(utc: Instant(milliseconds: $0)) }
  }
}
