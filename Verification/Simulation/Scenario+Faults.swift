import FamilyModel

extension Scenario {
  /// Draws the faults. Each seed uses a random subset of the fault kinds.
  mutating func drawFaults(_ sessions: [(Milliseconds, Milliseconds)], _ random: inout SeededRandom)
  {
    guard !sessions.isEmpty, random.chance(92) else { return }
    let kinds = (0..<9).filter { _ in random.chance(45) }
    guard !kinds.isEmpty else { return }
    for _ in 0..<(1 + random.below(4 * sessions.count)) {
      let session = random.pick(sessions)
      let at = random.within(session.0 - .seconds(1)...session.1 + .seconds(2))
      drawFault(random.pick(kinds), at, &random)
    }
  }

  /// Draws lost messages and clocks set back just before the healing, while requests are in flight.
  ///
  /// Timers that were set by the old clock must still fire.
  mutating func drawLateClock(_ random: inout SeededRandom) {
    let at = healing - random.milliseconds(1_000...4_000)
    let fault = Act.LinkFault(losesPercent: 70 + random.below(31))
    let jump = random.milliseconds(-7_200_000 ... -1_800_000)
    for device in devices.indices where random.chance(60) {
      steps.append(Step(at: at - .milliseconds(500), act: .link(device, fault, until: healing)))
      if devices[device].person.role != .adult, random.chance(70) {
        steps.append(Step(at: at - random.milliseconds(100...400), act: .post(device)))
      }
      if random.chance(60) { steps.append(Step(at: at, act: .clock(.device(device), by: jump))) }
    }
    if random.chance(30) { steps.append(Step(at: at, act: .clock(.relay, by: jump))) }
    sort()
  }

  private mutating func drawFault(_ kind: Int, _ at: Milliseconds, _ random: inout SeededRandom) {
    func process() -> Act.Process {
      let device = random.below(devices.count)
      switch random.below(10) {
      case 0..<4: return .relay
      case 4..<8: return .device(device)
      default: return .app(device, random.below(Self.apps.count))
      }
    }
    let until = at + random.milliseconds(200...30_000)
    switch kind {
    case 0, 1:
      steps.append(
        Step(at: at, act: .crash(process(), boundaries: random.below(40), power: kind == 1)))
    case 2: steps.append(Step(at: at, act: .cut(random.below(devices.count))))
    case 3:
      steps.append(
        Step(at: at, act: .slow(process(), by: random.milliseconds(50...3_000), until: until)))
    case 4:
      var fault = Act.LinkFault()
      if random.chance(50) { fault.losesPercent = 5 + random.below(60) }
      if random.chance(40) { fault.repeatsPercent = 5 + random.below(50) }
      fault.reorders = random.chance(50)
      if random.chance(30) { fault.delay = random.milliseconds(100...5_000) }
      for device in devices.indices where random.chance(40) {
        steps.append(Step(at: at, act: .link(device, fault, until: until)))
      }
    case 5:
      // A partition of one or both directions.
      let way = random.below(3)
      for device in devices.indices where random.chance(50) {
        let fault = Act.LinkFault(blocksUp: way != 1, blocksDown: way != 0)
        steps.append(Step(at: at, act: .link(device, fault, until: until)))
      }
    case 6:
      let fault = random.pick(DiskFault.allCases)
      steps.append(Step(at: at, act: .disk(process(), fault, until: until)))
    case 7:
      let jump = random.milliseconds(random.chance(50) ? -90_000...90_000 : -7_200_000...7_200_000)
      steps.append(Step(at: at, act: .clock(process(), by: jump)))
    default:
      if random.chance(50) {
        steps.append(Step(at: at, act: .evict))
      } else {
        steps.append(Step(at: at, act: .flip(process())))
      }
    }
  }
}
