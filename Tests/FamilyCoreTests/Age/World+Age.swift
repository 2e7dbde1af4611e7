import FamilyCore
import FamilyModel

extension World {
  /// 2026-11-21, 12:00 UTC.
  static let november = Instant(milliseconds: 1_795_262_400_000)

  /// A family at a present-day date that knows Emily's birthdate, with her app attached.
  static func withAccount(_ account: Account? = nil, of person: PersonID = emily) -> World {
    var world = World(isConnected: false)
    world.now = november
    for id: UInt32 in [1, 2, 3, 4, 5] { world.connect(id) }
    let account =
      account ?? Account(birthdate: day(2012, 5, 17), region: "US", declaration: .guardianDeclared)
    world.administrate(.setAccount(person, .account(account)))
    for id: UInt32 in [3, 4, 5] { world.child(id, .app(app, .attach(app: app, applied: 0))) }
    world.forgetSeen()
    return world
  }

  mutating func forgetSeen() { seen = [:] }

  mutating func askAge(_ number: UInt64, _ gates: [Int32]? = [13, 16], on id: UInt32 = 3) {
    child(id, .app(World.app, .age(number, gates: gates)))
  }

  func ageReply(_ number: UInt64, on id: UInt32 = 3) -> AgeReply? {
    for case .app(_, .age(number, let reply)) in (seen[id] ?? []).reversed() { return reply }
    return nil
  }

  func agePrompts(on id: UInt32 = 3) -> [AgeRange] {
    (seen[id] ?? []).compactMap {
      if case .prompt(_, .ageRange(_, let range), _) = $0 { range } else { nil }
    }
  }

  func ageNotices(on id: UInt32 = 3) -> [AgeRange] {
    notices(on: id).compactMap { if case .ageShared(_, let range) = $0 { range } else { nil } }
  }

  static func settings(
    _ sharing: AgeSharing, ceiling: AgeRating? = nil, apps: [AppID: AgeSharing] = [:]
  ) -> AgeSettings {
    var settings = AgeSettings()
    settings.sharing = sharing
    settings.ceiling = ceiling
    settings.apps = apps
    return settings
  }
}
