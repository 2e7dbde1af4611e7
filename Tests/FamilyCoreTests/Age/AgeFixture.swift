@testable import FamilyCore
import FamilyModel

/// The age policy without devices: a person, an app, and the app's age answers.
struct AgeFixture {
  static let app = AppID("example.landmarks")
  var policy: AgePolicy
  var state = AgeState()
  var prompts = 0
  var notices = 0
  /// The person's answer to prompts.
  var shares = true

  init(
    born: Account.Day, today: Account.Day, region: String = "US", isInFamily: Bool = true,
    sharing: AgeSharing = .always, declaration: Account.Declaration = .guardianDeclared,
    made: Account.Day? = nil
  ) {
    var settings = AgeSettings()
    settings.sharing = sharing
    policy = AgePolicy(
      account: Account(birthdate: born, region: region, declaration: declaration),
      accountMade: made ?? today, isInFamily: isInFamily, settings: settings, limitsOn: true,
      today: today)
  }

  /// The range that the app receives, or `nil` if declined.
  mutating func ask(_ gates: Int32...) throws -> AgeRange? { try ask(gates) }

  mutating func ask(_ gates: [Int32], of app: AppID = app) throws -> AgeRange? {
    switch try policy.decide(gates, of: app, state.memory(app)) {
    case .reply(let range): return range
    case .share(let answer, let isNew):
      if isNew { notices += 1 }
      state.record(.ageMemory(app, answer))
      return policy.withControls(answer.range!)
    case .prompt(let answer):
      prompts += 1
      guard shares else {
        let declined = AgeAnswer(gates: answer.gates, day: answer.day, range: nil)
        state.record(.ageMemory(app, declined))
        return nil
      }
      state.record(.ageMemory(app, answer))
      return policy.withControls(answer.range!)
    }
  }

  /// The bounds of the range that the app receives.
  mutating func bounds(_ gates: Int32...) throws -> [Int32?] {
    let range = try ask(gates)
    return [range?.lower, range?.upper]
  }

  var age: Int32 { policy.account.birthdate!.years(to: policy.today) }
}

func day(_ year: Int32, _ month: UInt8, _ day: UInt8) -> Account.Day {
  Account.Day(year: year, month: month, day: day)
}

extension Account.Day {
  /// Advances the calendar by this number of days.
  func adding(_ days: Int64) -> Account.Day {
    var (y, m) = (Int64(year), Int64(month))
    if m <= 2 { (y, m) = (y - 1, m + 12) }
    let past = 365 * y + y / 4 - y / 100 + y / 400 + (153 * (m - 3) + 2) / 5 + Int64(self.day) - 1
    return Account.Day(utc: Instant(milliseconds: (past - 719_468 + days) * 86_400_000))
  }
}
