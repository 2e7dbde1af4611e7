import FamilyModel

/// The dishonest member's part of a scenario: its device, its acts, and its removal.
extension Scenario {
  /// Draws the scenario of a seed, at a limit or not, with the acts of the dishonest member if the
  /// adversary is one.
  init(seed: UInt64, adversary: Adversary?, scale: Scale?) {
    if let scale { self.init(seed: seed, scale: scale) } else { self.init(seed: seed) }
    guard let adversary, adversary != .relay else { return }
    var random = SeededRandom(seed: ~seed)
    drawMember(adversary, &random)
  }

  private mutating func drawMember(_ adversary: Adversary, _ random: inout SeededRandom) {
    let index = drawDishonest(role(of: adversary, &random), &random)
    dishonest = index
    let sessions = sessions(of: devices[index].family)
    for (start, end) in sessions {
      steps.append(Step(at: start + random.milliseconds(0...3_000), act: .online(index)))
      steps.append(Step(at: end, act: .offline(index)))
      for _ in 0..<(2 + random.below(8)) {
        let at = random.within(start + .milliseconds(500)...max(end, start + .seconds(2)))
        steps.append(Step(at: at, act: .attack(index, random.next())))
      }
    }
    let chances: [Adversary: Int] = [.removed: 100, .guardian: 50, .organizer: 30]
    if random.chance(chances[adversary] ?? 20) { drawRemoval(index, sessions, &random) }
    lastAttack = healing
    for _ in 0..<(2 + random.below(6)) {
      let at = max(.zero, healing + random.milliseconds(-4_000...12_000))
      lastAttack = max(lastAttack, at)
      steps.append(Step(at: at, act: .attack(index, random.next())))
    }
    sort()
  }

  private func role(of adversary: Adversary, _ random: inout SeededRandom) -> Role {
    switch adversary {
    case .guardian: return .guardian
    case .organizer: return .organizer
    case .adult: return .adult
    case .removed: return random.pick([.child, .child, .guardian, .guardian, .organizer, .adult])
    case .child, .relay: return .child
    }
  }

  /// Picks a device of the role, or adds one to a family. The first device of an organizer is honest,
  /// because the administrator signs with its keys.
  private mutating func drawDishonest(_ role: Role, _ random: inout SeededRandom) -> Int {
    let present = devices.indices.filter {
      devices[$0].person.role == role && devices[$0].isEnrolled && devices[$0].id.rawValue != 1
    }
    if !present.isEmpty, random.chance(60) { return random.pick(present) }
    let family = random.below(families)
    let mine = devices.filter { $0.family == family }
    let newcomer = Person(
      id: PersonID((mine.map(\.person.id.rawValue).max() ?? 0) + 1), role: role,
      displayName: "Mallory")
    let persons = mine.map(\.person).filter { $0.role == role }
    devices.append(
      DevicePlan(
        family: family, id: DeviceID((mine.map(\.id.rawValue).max() ?? 0) + 1),
        person: persons.isEmpty ? newcomer : random.pick(persons), isEnrolled: true))
    return devices.count - 1
  }

  /// The times in which devices of the family are online; one new session if there are none.
  private mutating func sessions(of family: Int) -> [(Milliseconds, Milliseconds)] {
    let mine = devices.indices.filter { devices[$0].family == family }
    var times: [Milliseconds] = []
    for step in steps {
      if case .online(let device) = step.act, mine.contains(device) { times.append(step.at) }
    }
    var sessions: [(Milliseconds, Milliseconds)] = []
    for at in times.sorted() where sessions.last.map({ at > $0.0 + .minutes(10) }) ?? true {
      sessions.append((at, at + .seconds(60)))
    }
    guard sessions.isEmpty else { return sessions }
    let start = max(.zero, healing - .minutes(2))
    for device in mine { steps.append(Step(at: start, act: .online(device))) }
    return [(start, start + .seconds(60))]
  }

  /// Another guardian removes the member's device, and in part of the runs all that the member
  /// planted.
  private mutating func drawRemoval(
    _ index: Int, _ sessions: [(Milliseconds, Milliseconds)], _ random: inout SeededRandom
  ) {
    let dishonest = devices[index]
    let guardians = devices.indices.filter { other in
      let plan = devices[other]
      return other != index && plan.family == dishonest.family && plan.isEnrolled
        && (plan.person.role == .organizer
          || plan.person.role == .guardian && dishonest.person.role != .organizer)
    }
    guard !guardians.isEmpty else { return }
    let session = random.pick(sessions)
    let at = random.within(session.0 + .seconds(5)...session.1 - .seconds(10))
    steps.append(
      Step(
        at: max(.zero, min(at, healing - .seconds(1))),
        act: .expel(random.pick(guardians), index, withPlants: random.chance(60))))
  }
}
