import FamilyModel

/// Acts about the settings of children: the web, pictures, and apps that manage.
///
/// A third of the seeds have them. Their random numbers are their own, so that they change no other act of
/// a seed.
extension Scenario {
  static let sites = [Site("news.example")!, Site("games.example")!]

  /// The random numbers of the acts; `nil` for a seed without them.
  static func randomOfSettings(_ seed: UInt64) -> SeededRandom? {
    seed % 3 == 0 ? SeededRandom(seed: ~seed) : nil
  }

  mutating func drawSettings(
    _ family: Int, _ start: Milliseconds, _ end: Milliseconds, _ random: inout SeededRandom
  ) {
    let mine = devices.indices.filter { devices[$0].family == family }
    for _ in 0..<(1 + random.below(4)) {
      steps.append(Step(at: random.within(start...end), act: drawSetting(mine, &random)))
    }
  }

  private func drawSetting(_ mine: [Int], _ random: inout SeededRandom) -> Act {
    let child = random.pick(mine.filter { devices[$0].person.role == .child })
    let guardian = random.pick(mine.filter { devices[$0].isGuardians })
    let site = random.pick(Self.sites)
    let app = random.chance(80) ? 0 : 1
    switch random.below(100) {
    case 0..<25: return .setting(guardian, .webRules(drawRules(&random)))
    case 25..<32:
      return .setting(guardian, .communicationSafety(random.pick(CommunicationSafety.allCases)))
    case 32..<40: return .setting(guardian, .webUseDeleted(random.chance(50) ? site : nil))
    case 40..<55: return .browse(child, app: app, site)
    case 55..<62: return .authorize(child, app: app)
    case 62..<70: return .manage(child, app: app, drawManaged(&random))
    case 70..<75: return .deleteHistory(child, app: app, random.chance(50) ? .all : .site(site))
    case 75..<78:
      let handle = random.chance(50) ? Handle(site) : .authorization
      return .withdraw(guardian, handle, everywhere: handle.kind == .site)
    default: return .showPages(child, app: app, site, seconds: UInt32(1 + random.below(90)))
    }
  }

  private func drawRules(_ random: inout SeededRandom) -> WebRules {
    var rules = WebRules()
    rules.others = random.pick(WebAccess.allCases)
    rules.report = random.chance(80) ? .sites : random.pick(WebReport.allCases)
    if random.chance(40) { rules.sites[random.pick(Self.sites)] = random.pick(WebAccess.allCases) }
    return rules
  }

  private func drawManaged(_ random: inout SeededRandom) -> ManagedSettings {
    var settings = ManagedSettings()
    if random.chance(60) { settings.sites = .specific([random.pick(Self.sites)]) }
    settings.deniesPeople = random.chance(20)
    return settings
  }
}
