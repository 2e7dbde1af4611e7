@testable import FamilyCore
import FamilyModel

/// A random history of one person and one app. The events are drawn first and can be replayed for
/// any birthdate.
struct AgeHistory {
  enum Step: Hashable {
    case ask([Int32])
    case sharing(AgeSharing)
    case answer(shares: Bool)
    case limits(Bool)
  }

  /// The observations of the app: its answers, and the prompts on the person's screen.
  struct Seen: Hashable {
    var day: Account.Day
    var gates: [Int32]
    var range: AgeRange?
    var problem: Problem?
    var prompts: Int
    var notices: Int
  }

  let seed: UInt64
  let born: Account.Day
  let region: String
  let isInFamily: Bool
  let declaration: Account.Declaration
  let sharing: AgeSharing
  /// The day of the account. Some acts begin during a history and cover newer accounts only.
  let made: Account.Day
  let steps: [(day: Account.Day, step: Step)]

  /// - Parameter span: The approximate length in days. Less than a year is one anchor year.
  init(seed: UInt64, isWithinYear: Bool = false) {
    self.seed = seed
    var source = IDSource(seed: seed)
    func below(_ bound: Int64) -> Int64 { Int64(source.next() % UInt64(bound)) }
    func pick<T>(_ values: [T]) -> T { values[Int(below(Int64(values.count)))] }
    let regions = ["US", "KR", "GB-SCT", "US-MS", "US-TX", "XX"]
    region = pick(regions)
    isInFamily = below(4) > 0
    declaration = pick(Account.Declaration.allCases)
    sharing = pick([.always, .always, .askFirst, .askFirst, .never])
    // Calendar errors are likely around the end of February.
    let start =
      below(4) == 0
      ? pick([day(2024, 2, 28), day(2024, 2, 29), day(2024, 3, 1), day(2025, 2, 28)])
      : day(2024, 1, 1).adding(below(800))
    let back = below(9_500)
    let cornered = pick([day(2008, 2, 29), day(2010, 3, 1), day(2012, 2, 29), day(2009, 2, 28)])
    born = below(4) == 0 ? cornered : start.adding(-back)
    made = start.adding(below(1_200))
    var now = start
    var asked: [[Int32]] = []
    var steps: [(Account.Day, Step)] = []
    for _ in 0..<(6 + below(8)) {
      switch below(isWithinYear ? 5 : 12) {
      case 0...2: now = now.adding(below(25))
      case 3...4: break
      case 5...6: now = now.adding(below(200))
      case 7: now = now.adding(365 + below(800))
      case 8: now = day(start.year + Int32(below(5)), start.month, start.day).adding(below(5) - 2)
      case 9: now = day(now.year, born.month, min(born.day, 28)).adding(below(5) - 2)
      default: now = now.adding(-below(400))
      }
      switch below(10) {
      case 0: steps.append((now, .sharing(pick([.always, .always, .askFirst, .never]))))
      case 1: steps.append((now, .answer(shares: below(3) > 0)))
      case 2: steps.append((now, .limits(below(2) == 0)))
      default:
        var gates: [Int32] = []
        if !asked.isEmpty, below(3) == 0 {
          gates = pick(asked)
        } else {
          var gate = Int32(1 + below(18))
          for _ in 0..<(1 + below(3)) {
            gates.append(gate)
            gate += 2 + Int32(below(4))
          }
        }
        asked.append(gates)
        steps.append((now, .ask(gates)))
      }
    }
    self.steps = steps
  }

  func play(born: Account.Day) -> [Seen] {
    var rig = AgeFixture(
      born: born, today: steps[0].day, region: region, isInFamily: isInFamily, sharing: sharing,
      declaration: declaration, made: made)
    var seen: [Seen] = []
    for (day, step) in steps {
      rig.policy.today = day
      switch step {
      case .sharing(let new): rig.policy.settings.sharing = new
      case .answer(let shares): rig.shares = shares
      case .limits(let on): rig.policy.limitsOn = on
      case .ask(let gates):
        var problem: Problem?
        var range: AgeRange?
        do { range = try rig.ask(gates) } catch { problem = error as? Problem }
        seen.append(
          Seen(
            day: day, gates: gates, range: range, problem: problem, prompts: rig.prompts,
            notices: rig.notices))
      }
    }
    return seen
  }

  /// The law of the person's region on that day.
  func law(_ today: Account.Day) -> Region {
    RegionTable.standard.region(region, accountMade: made, on: today)
  }

  /// The day of the first answer that shared a range.
  static func anchor(_ seen: [Seen]) -> Account.Day? { seen.first { $0.range != nil }?.day }

  /// The earliest and the latest birthdate of persons with this person's age on that day.
  func twins(on anchor: Account.Day) -> [Account.Day] {
    let age = born.years(to: anchor)
    func edge(_ year: Int32, _ direction: Int64) -> Account.Day {
      var day = Account.Day(year: year, month: anchor.month, day: anchor.day).adding(-direction * 3)
      while day.years(to: anchor) != age { day = day.adding(direction) }
      return day
    }
    return [edge(anchor.year - age - 1, 1), edge(anchor.year - age, -1)]
  }
}
