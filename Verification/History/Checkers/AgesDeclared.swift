import FamilyCore
import FamilyModel

/// What apps and devices learn about an age is what was declared, and no more (D1–D10).
///
/// A device has a birthdate only if its person is, or was, in that account's audience. An app is told a range
/// only where somebody agreed: the person, the settings, or the law of the region. The range's bounds are gates
/// that the app asked with, none is above the age of majority, a bounded range spans two years, and a declared
/// birthdate is in it. At the end all devices remember alike what apps were told.
public struct AgesDeclared: Checker {
  public let name = "no age but what was declared"
  /// A checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var models: [FamilyID: AgeModel] = [:]
    for family in log.families.keys.sorted() {
      let model = AgeModel(log.rosters(family), log.events(family))
      guard !model.isSealed else { return .unknown("the store's contents are sealed") }
      models[family] = model
    }
    var seen = Seen(start: history.entries.first?.at ?? Instant(milliseconds: 0))
    for (index, entry) in history.entries.enumerated() {
      switch entry.fact {
      case .applied(let device, let audience, let seq, _):
        if audience.accountPerson != nil { seen.held[device] = max(seen.held[device] ?? 0, seq) }
      case .askedAge(let app, let gates): seen.gates[app.app, default: []].formUnion(gates)
      case .agreed(let app): seen.agreed.insert(app)
      case .holdsBirthdate(let device, let person):
        let rosters = models[device.family]?.rosters ?? []
        if AudienceKept.end(of: device, .account(person), rosters) == 0 {
          return .violated("device \(device.device.rawValue) has a foreign birthdate", at: index)
        }
      case .ageTold(let app, let range):
        if let what = models[app.device.family]?.wrong(range, app, seen, now: entry.at) {
          return .violated(what, at: index)
        }
      case .remembersAge(let device, let person, let app, let memory):
        let name = Seen.Memory(family: device.family, person: person, app: app)
        if seen.memories[name, default: memory] != memory {
          return .violated("devices remember differently what an app was told", at: index)
        }
        seen.memories[name] = memory
      default: break
      }
    }
    return .ok
  }
}

/// What has happened up to an entry.
private struct Seen {
  struct Memory: Hashable {
    var family: FamilyID
    var person: PersonID
    var app: AppID
  }
  let start: Instant
  /// The last event of an account on each device.
  var held: [DeviceAddress: UInt64] = [:]
  /// The gates that an app asked with; it may be given what it was told before.
  var gates: [AppID: Set<Int32>] = [:]
  var agreed: Set<AppAddress> = []
  var memories: [Memory: AgeMemory] = [:]
}

/// The accounts and settings as the log has them, told once more.
private struct AgeModel {
  let rosters: [(seq: UInt64, roster: Roster)]
  private var accounts: [PersonID: [(seq: UInt64, account: Account)]] = [:]
  private var settings: [PersonID: [(seq: UInt64, settings: AgeSettings)]] = [:]
  private(set) var isSealed = false

  init(_ rosters: [(seq: UInt64, roster: Roster)], _ events: [Event]) {
    self.rosters = rosters
    for event in events {
      switch event.body {
      case .accountChanged(let person, .account(let account)):
        accounts[person, default: []].append((event.seq, account))
      case .ageSet(let person, .ageSettings(let new), _):
        settings[person, default: []].append((event.seq, new))
      case .accountChanged(_, .sealed), .ageSet(_, .sealed, _): isSealed = true
      default: break
      }
    }
  }

  /// What is wrong with telling the app this; `nil`: nothing.
  func wrong(_ range: AgeRange, _ app: AppAddress, _ seen: Seen, now: Instant) -> String? {
    let owners = rosters.compactMap { $0.roster.owner(of: app.device.device)?.id }
    guard let person = owners.last else { return "an app of no member was told an age" }
    let held = seen.held[app.device] ?? 0
    // What was told before holds, so each account that the device ever had may be what the range is of.
    let accounts = (accounts[person] ?? []).filter { $0.seq <= held }.map(\.account)
    let settings =
      [AgeSettings()] + (settings[person] ?? []).filter { $0.seq <= held }.map(\.settings)
    let mayTell =
      accounts.contains { Region($0.region).mustShare }
      || settings.contains { $0.sharing(with: app.app) == .always }
      || seen.agreed.contains { $0.app == app.app && isOwner(person, of: $0.device) }
    guard mayTell else { return "an app was told an age, and nobody agreed" }
    let days = Self.days(from: seen.start, to: now)
    guard accounts.contains(where: { fits(range, $0, days, seen.gates[app.app] ?? []) }) else {
      return "an app was told an age that was not declared"
    }
    if !range.controls.isEmpty,
      !accounts.contains(where: { range.upper ?? .max < Region($0.region).majority })
    {
      return "an app was told the controls of an adult"
    }
    return nil
  }

  private func isOwner(_ person: PersonID, of device: DeviceAddress) -> Bool {
    rosters.contains { $0.roster.owner(of: device.device)?.id == person }
  }

  private func fits(
    _ range: AgeRange, _ account: Account, _ days: [Account.Day], _ gates: Set<Int32>
  ) -> Bool {
    guard let birthdate = account.birthdate else { return false }
    let majority = Region(account.region).majority
    let bounds = Set(gates.map { min($0, majority) })
    if let lower = range.lower, !bounds.contains(lower) { return false }
    if let upper = range.upper, !bounds.contains(upper + 1) { return false }
    if let lower = range.lower, let upper = range.upper, upper - lower < 1 { return false }
    return days.contains { day in
      let age = birthdate.years(to: day)
      guard age >= range.lower ?? .min, age <= range.upper ?? .max else { return false }
      return range.declaration.map {
        $0 == account.declaration.told(age: age, majority: majority, isInFamily: true)
      } ?? true
    }
  }

  /// The days that a device may take for that of the first answer: clocks are off by less than a day.
  private static func days(from start: Instant, to now: Instant) -> [Account.Day] {
    stride(
      from: start.milliseconds - 86_400_000, through: now.milliseconds + 86_400_000, by: 86_400_000
    ).map { Account.Day(utc: Instant(milliseconds: $0)) }
  }
}
