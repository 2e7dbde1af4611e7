extension Scenario {
  /// Each seed has its own mixture: some kinds of faults often, others not at all.
  mutating func drawFaults(_ sessions: [(Int64, Int64)], _ dice: inout SeededRandom) {
    guard !sessions.isEmpty, dice.chance(92) else { return }
    let kinds = (0..<9).filter { _ in dice.chance(45) }
    guard !kinds.isEmpty else { return }
    for _ in 0..<(1 + dice.below(4 * sessions.count)) {
      let session = dice.pick(sessions)
      let at = dice.within(session.0 - 1_000...session.1 + 2_000)
      drawFault(dice.pick(kinds), at, &dice)
    }
  }

  /// Messages get lost until the healing, and clocks are set back just before it, while words are on their way:
  /// what waits for a time of the clock before has to be done all the same.
  mutating func drawLateClock(_ dice: inout SeededRandom) {
    let at = healing - dice.within(1_000...4_000)
    let fault = Act.LinkFault(losesPercent: 70 + dice.below(31))
    let jump = dice.within(-7_200_000 ... -1_800_000)
    for device in devices.indices where dice.chance(60) {
      steps.append(Step(at: at - 500, act: .link(device, fault, until: healing)))
      if devices[device].person.role != .adult, dice.chance(70) {
        steps.append(Step(at: at - dice.within(100...400), act: .post(device)))
      }
      if dice.chance(60) { steps.append(Step(at: at, act: .clock(.device(device), by: jump))) }
    }
    if dice.chance(30) { steps.append(Step(at: at, act: .clock(.relay, by: jump))) }
    sort()
  }

  private mutating func drawFault(_ kind: Int, _ at: Int64, _ dice: inout SeededRandom) {
    func process() -> Act.Process {
      let device = dice.below(devices.count)
      switch dice.below(10) {
      case 0..<4: return .relay
      case 4..<8: return .device(device)
      default: return .app(device, dice.below(Self.apps.count))
      }
    }
    let until = at + dice.within(200...30_000)
    switch kind {
    case 0, 1:
      steps.append(
        Step(at: at, act: .crash(process(), boundaries: dice.below(40), power: kind == 1)))
    case 2: steps.append(Step(at: at, act: .cut(dice.below(devices.count))))
    case 3:
      steps.append(
        Step(at: at, act: .slow(process(), by: dice.within(50...3_000), until: until)))
    case 4:
      var fault = Act.LinkFault()
      if dice.chance(50) { fault.losesPercent = 5 + dice.below(60) }
      if dice.chance(40) { fault.repeatsPercent = 5 + dice.below(50) }
      fault.reorders = dice.chance(50)
      if dice.chance(30) { fault.delay = dice.within(100...5_000) }
      for device in devices.indices where dice.chance(40) {
        steps.append(Step(at: at, act: .link(device, fault, until: until)))
      }
    case 5:
      // A partition: of both directions, or of one.
      let way = dice.below(3)
      for device in devices.indices where dice.chance(50) {
        let fault = Act.LinkFault(blocksUp: way != 1, blocksDown: way != 0)
        steps.append(Step(at: at, act: .link(device, fault, until: until)))
      }
    case 6: steps.append(Step(at: at, act: .full(process(), until: until)))
    case 7:
      let jump = dice.within(dice.chance(50) ? -90_000...90_000 : -7_200_000...7_200_000)
      steps.append(Step(at: at, act: .clock(process(), by: jump)))
    default:
      if dice.chance(50) {
        steps.append(Step(at: at, act: .evict))
      } else {
        steps.append(Step(at: at, act: .flip(process())))
      }
    }
  }
}
