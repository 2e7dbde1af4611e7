import FamilyModel

extension Scenario {
  /// Draws the scenario of a seed.
  init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    self.init(
      seed: random.next(), families: 1 + random.below(3), days: 1 + random.below(4), healing: .zero,
      maxFamilies: 100)
    healing = .days(days)
    if random.chance(20) { maxFamilies = 1 }
    if random.chance(50) { resultsKept = 1 + random.below(4) }
    for family in 0..<families { drawPeople(family, &random) }
    var sessions: [(Milliseconds, Milliseconds)] = []
    var ofSettings = Self.randomOfSettings(seed)
    for family in 0..<families {
      for day in 0..<days {
        for hour in [7, 18] where random.chance(80) {
          let morning = Milliseconds.days(day) + .hours(hour)
          let start = morning + random.milliseconds(0...7_200_000)
          let end = start + random.milliseconds(15_000...70_000)
          sessions.append((start, end))
          drawSession(family, start, end, &random)
          if ofSettings != nil { drawSettings(family, start, end, &ofSettings!) }
        }
      }
    }
    drawFaults(sessions, &random)
    sort()
    // Healing within a session: connected devices must recover without reconnecting.
    if random.chance(60), let last = sessions.max(by: { $0.1 < $1.1 }) {
      healing = random.within(last.0 + .seconds(5)...last.1 + .seconds(3))
      steps.removeAll { $0.at >= healing }
      if random.chance(30) { drawLateClock(&random) }
    }
  }

  mutating func sort() {
    // Stable: steps at the same time keep the order in which they were drawn.
    steps = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
      .map(\.element)
  }

  mutating func drawPeople(_ family: Int, _ random: inout SeededRandom) {
    var device: UInt32 = 0
    var person: UInt32 = 0
    func add(_ role: Role, _ count: Int, _ scenario: inout Scenario, _ random: inout SeededRandom) {
      person += 1
      let someone = Person(id: PersonID(person), role: role, displayName: "\(person)")
      for index in 0..<count {
        device += 1
        scenario.devices.append(
          DevicePlan(
            family: family, id: DeviceID(device), person: someone,
            isEnrolled: index == 0 || random.chance(70)))
      }
    }
    add(.organizer, 1 + (random.chance(20) ? 1 : 0), &self, &random)
    if random.chance(70) { add(.guardian, 1, &self, &random) }
    if random.chance(10) { add(.guardian, 1, &self, &random) }
    add(.child, 1 + (random.chance(35) ? 1 : 0), &self, &random)
    if random.chance(25) { add(.child, 1, &self, &random) }
    if random.chance(15) { add(.adult, 1, &self, &random) }
  }

  mutating func drawSession(
    _ family: Int, _ start: Milliseconds, _ end: Milliseconds, _ random: inout SeededRandom
  ) {
    let mine = devices.indices.filter { devices[$0].family == family }
    for device in mine where random.chance(85) {
      steps.append(Step(at: start + random.milliseconds(0...4_000), act: .online(device)))
      steps.append(Step(at: end + random.milliseconds(-5_000...4_000), act: .offline(device)))
    }
    if random.chance(60) {
      let guardian = random.pick(mine.filter { devices[$0].isGuardians })
      steps.append(
        Step(
          at: start + random.milliseconds(2_000...9_000),
          act: .account(guardian, drawAccount(&random))))
    }
    for _ in 0..<(1 + random.below(4)) {
      let at = random.within(start...end)
      steps.append(Step(at: at, act: drawAct(family, mine, &random)))
    }
  }

  private func drawAct(_ family: Int, _ mine: [Int], _ random: inout SeededRandom) -> Act {
    let children = mine.filter { devices[$0].person.role == .child }
    let guardians = mine.filter { devices[$0].isGuardians }
    let (child, guardian) = (random.pick(children), random.pick(guardians))
    let handle = random.pick(Self.handles)
    let app = random.chance(80) ? 0 : 1
    switch random.below(100) {
    case 0..<35:
      let asker = random.chance(96) ? child : random.pick(mine.filter { !devices[$0].isGuardians })
      return .ask(asker, app: app, drawInquiry(&random))
    case 35..<45:
      let asker = random.pick(mine.filter { !devices[$0].isGuardians })
      if random.chance(10) { return .shareAgain(asker, app: app) }
      return .askAge(asker, app: app, gates: random.pick(Self.gates))
    case 45..<55: return .post(random.pick(children + guardians))
    case 55..<59: return .cancel(child)
    case 59..<66: return .withdraw(guardian, handle, everywhere: random.chance(50))
    case 66..<68: return .withdrawConsent(guardian, app: app)
    case 68..<75: return .contact(guardian, handle, known: random.chance(65))
    case 75..<79: return .limits(guardian, on: random.chance(60))
    case 79..<81: return .ageSettings(guardian, drawAgeSettings(&random))
    case 81..<84: return .passcode(guardian, random.chance(70) ? "258013" : "111111")
    case 84..<86: return .account(guardian, drawAccount(&random))
    case 86..<87: return .addChild(guardian)
    case 87..<89: return .open(child, app: app)
    case 89..<91: return .administrate(family: family, .add(random.pick(mine)))
    case 91..<94: return .administrate(family: family, .remove(random.pick(mine)))
    case 94..<95:
      return .administrate(
        family: family, .limits(devices[child].person.id, on: random.chance(60)))
    default:
      let victim = random.below(families)
      let person = random.pick(devices.filter { $0.family == victim && $0.person.role == .child })
        .person.id
      let audience = random.pick([Audience.family, .conversation(person), .account(person)])
      return .eavesdrop(random.below(devices.count), family: victim, audience)
    }
  }

  private func drawInquiry(_ random: inout SeededRandom) -> Act.QuestionPlan {
    let count = random.chance(15) ? 0 : 1 + random.below(2)
    return Act.QuestionPlan(
      handles: (0..<count).map { _ in random.pick(Self.handles) },
      id: QuestionID(high: 42, low: random.next()),
      manner: random.chance(20) ? 2 : random.chance(50) ? 1 : 0, hasThreeChoices: random.chance(20),
      expiresAfter: random.chance(25) ? random.milliseconds(500...40_000) : nil)
  }

  /// Birthdays are before, in and after the days of a run.
  private func drawAccount(_ random: inout SeededRandom) -> Account {
    let birthdate = Account.Day(
      year: Int32(2004 + random.below(20)), month: 11, day: UInt8(22 + random.below(8)))
    return Account(
      birthdate: random.chance(90) ? birthdate : nil, region: random.pick(Self.regions),
      declaration: random.pick(Account.Declaration.allCases))
  }

  private func drawAgeSettings(_ random: inout SeededRandom) -> AgeSettings {
    var settings = AgeSettings()
    settings.sharing = random.pick(AgeSharing.allCases)
    if random.chance(40) {
      settings.apps[random.pick(Self.apps)] = random.pick(AgeSharing.allCases)
    }
    return settings
  }
}
