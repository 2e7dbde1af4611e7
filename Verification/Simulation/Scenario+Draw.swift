import FamilyModel

extension Scenario {
  /// The scenario of this seed.
  init(seed: UInt64) {
    var dice = SeededRandom(seed: seed)
    self.init(
      seed: dice.next(), families: 1 + dice.below(3), days: 1 + dice.below(4), healing: 0,
      maxFamilies: 100)
    healing = Int64(days) * Self.day
    if dice.chance(20) { maxFamilies = 1 }
    if dice.chance(50) { resultsKept = 1 + dice.below(4) }
    for family in 0..<families { drawPeople(family, &dice) }
    var sessions: [(Int64, Int64)] = []
    for family in 0..<families {
      for day in 0..<days {
        for hour in [7, 18] where dice.chance(80) {
          let morning: Int64 = Int64(day) * Self.day + Int64(hour) * 3_600_000
          let start = morning + dice.within(0...7_200_000)
          let end = start + dice.within(15_000...70_000)
          sessions.append((start, end))
          drawSession(family, start, end, &dice)
        }
      }
    }
    drawFaults(sessions, &dice)
    sort()
    // Often in the midst of it: then what is connected has to recover without a new connection.
    if dice.chance(60), let last = sessions.max(by: { $0.1 < $1.1 }) {
      healing = dice.within(last.0 + 5_000...last.1 + 3_000)
      steps.removeAll { $0.at >= healing }
      if dice.chance(30) { drawLateClock(&dice) }
    }
  }

  mutating func sort() {
    // Stable: of two steps at one moment the one drawn first comes first.
    steps = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
      .map(\.element)
  }

  private mutating func drawPeople(_ family: Int, _ dice: inout SeededRandom) {
    var device: UInt32 = 0
    var person: UInt32 = 0
    func add(_ role: Role, _ count: Int, _ scenario: inout Scenario, _ dice: inout SeededRandom) {
      person += 1
      let someone = Person(id: PersonID(person), role: role, displayName: "\(person)")
      for index in 0..<count {
        device += 1
        scenario.devices.append(
          DevicePlan(
            family: family, id: DeviceID(device), person: someone,
            isEnrolled: index == 0 || dice.chance(70)))
      }
    }
    add(.organizer, 1 + (dice.chance(20) ? 1 : 0), &self, &dice)
    if dice.chance(70) { add(.guardian, 1, &self, &dice) }
    if dice.chance(10) { add(.guardian, 1, &self, &dice) }
    add(.child, 1 + (dice.chance(35) ? 1 : 0), &self, &dice)
    if dice.chance(25) { add(.child, 1, &self, &dice) }
    if dice.chance(15) { add(.adult, 1, &self, &dice) }
  }

  private mutating func drawSession(
    _ family: Int, _ start: Int64, _ end: Int64, _ dice: inout SeededRandom
  ) {
    let mine = devices.indices.filter { devices[$0].family == family }
    for device in mine where dice.chance(85) {
      steps.append(Step(at: start + dice.within(0...4_000), act: .online(device)))
      steps.append(Step(at: end + dice.within(-5_000...4_000), act: .offline(device)))
    }
    if dice.chance(60) {
      let guardian = dice.pick(mine.filter { devices[$0].isGuardians })
      steps.append(
        Step(at: start + dice.within(2_000...9_000), act: .account(guardian, drawAccount(&dice))))
    }
    for _ in 0..<(1 + dice.below(4)) {
      let at = dice.within(start...end)
      steps.append(Step(at: at, act: drawAct(family, mine, &dice)))
    }
  }

  private func drawAct(_ family: Int, _ mine: [Int], _ dice: inout SeededRandom) -> Act {
    let children = mine.filter { devices[$0].person.role == .child }
    let guardians = mine.filter { devices[$0].isGuardians }
    let (child, guardian) = (dice.pick(children), dice.pick(guardians))
    let handle = dice.pick(Self.handles)
    let app = dice.chance(80) ? 0 : 1
    switch dice.below(100) {
    case 0..<35:
      let asker = dice.chance(96) ? child : dice.pick(mine.filter { !devices[$0].isGuardians })
      return .ask(asker, app: app, drawInquiry(&dice))
    case 35..<45:
      let asker = dice.pick(mine.filter { !devices[$0].isGuardians })
      if dice.chance(10) { return .shareAgain(asker, app: app) }
      return .askAge(asker, app: app, gates: dice.pick(Self.gates))
    case 45..<55: return .post(dice.pick(children + guardians))
    case 55..<59: return .cancel(child)
    case 59..<66: return .withdraw(guardian, handle, everywhere: dice.chance(50))
    case 66..<68: return .withdrawConsent(guardian, app: app)
    case 68..<75: return .contact(guardian, handle, known: dice.chance(65))
    case 75..<79: return .limits(guardian, on: dice.chance(60))
    case 79..<81: return .ageSettings(guardian, drawAgeSettings(&dice))
    case 81..<84: return .passcode(guardian, dice.chance(70) ? "2580" : "1111")
    case 84..<86: return .account(guardian, drawAccount(&dice))
    case 86..<87: return .addChild(guardian)
    case 87..<89: return .open(child, app: app)
    case 89..<91: return .administrate(family: family, .add(dice.pick(mine)))
    case 91..<94: return .administrate(family: family, .remove(dice.pick(mine)))
    case 94..<95:
      return .administrate(
        family: family, .limits(devices[child].person.id, on: dice.chance(60)))
    default:
      let victim = dice.below(families)
      let person = dice.pick(devices.filter { $0.family == victim && $0.person.role == .child })
        .person.id
      let audience = dice.pick([Audience.family, .conversation(person), .account(person)])
      return .pry(
        dice.below(devices.count), family: victim, audience, generation: UInt32(dice.below(2)))
    }
  }

  private func drawInquiry(_ dice: inout SeededRandom) -> Act.Inquiry {
    let count = dice.chance(15) ? 0 : 1 + dice.below(2)
    return Act.Inquiry(
      handles: (0..<count).map { _ in dice.pick(Self.handles) },
      id: QuestionID(high: 42, low: dice.next()),
      manner: dice.chance(20) ? 2 : dice.chance(50) ? 1 : 0, hasThreeChoices: dice.chance(20),
      expiresAfter: dice.chance(25) ? dice.within(500...40_000) : nil)
  }

  /// Birthdays are before, in and after the days of a run.
  private func drawAccount(_ dice: inout SeededRandom) -> Account {
    let birthdate = Account.Day(
      year: Int32(2004 + dice.below(20)), month: 11, day: UInt8(22 + dice.below(8)))
    return Account(
      birthdate: dice.chance(90) ? birthdate : nil, region: dice.pick(Self.regions),
      declaration: dice.pick(Account.Declaration.allCases))
  }

  private func drawAgeSettings(_ dice: inout SeededRandom) -> AgeSettings {
    var settings = AgeSettings()
    settings.sharing = dice.pick(AgeSharing.allCases)
    if dice.chance(40) { settings.apps[dice.pick(Self.apps)] = dice.pick(AgeSharing.allCases) }
    return settings
  }
}
