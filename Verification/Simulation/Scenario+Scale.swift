import FamilyModel

/// The limit that a scenario reaches.
public enum Scale: String, CaseIterable, Sendable {
  /// One family with as many persons and devices as a roster may have.
  case devices
  /// A family with a long history, which some devices read as a whole.
  case history
  /// Devices that send more than the relay admits.
  case flood
  /// Clocks that are set by years, and back.
  case years
}

extension Scenario {
  /// Draws the scenario of a seed at a limit.
  init(seed: UInt64, scale: Scale) {
    var random = SeededRandom(seed: seed ^ 0x5CA1_E000)
    switch scale {
    case .years:
      self.init(seed: seed)
      drawYears(&random)
    case .devices, .history, .flood:
      self.init(seed: seed, families: 1, days: 1, healing: .hours(10), maxFamilies: 100)
      if scale == .devices { drawLargeFamily(&random) } else { drawPeople(0, &random) }
      let sessions = (0..<2).map { hour in
        (start: Milliseconds.hours(7 + hour), end: Milliseconds.hours(7 + hour) + .minutes(10))
      }
      for (start, end) in sessions {
        drawSession(0, start, end, &random)
        drawLoad(scale, start, end, &random)
      }
      drawFaults(sessions, &random)
    }
    sort()
  }

  /// Draws persons and devices up to the limits. All are in the first roster.
  private mutating func drawLargeFamily(_ random: inout SeededRandom) {
    for person in 0..<Limits.persons {
      let role: Role =
        switch person {
        case 0: .organizer
        case 1..<8: .guardian
        case 8..<24: .child
        default: .adult
        }
      let someone = Person(
        id: PersonID(UInt32(person) + 1), role: role, displayName: "\(person + 1)")
      for index in 0..<Limits.devices / Limits.persons {
        let number = UInt32(person * Limits.devices / Limits.persons + index) + 1
        devices.append(
          DevicePlan(family: 0, id: DeviceID(number), person: someone, isEnrolled: true))
      }
    }
  }

  /// Draws messages and statements of one session.
  private mutating func drawLoad(
    _ scale: Scale, _ start: Milliseconds, _ end: Milliseconds, _ random: inout SeededRandom
  ) {
    let writers = devices.indices.filter { devices[$0].person.role != .adult }
    let guardians = devices.indices.filter { devices[$0].isGuardians }
    func add(_ at: Milliseconds, _ act: Act) { steps.append(Step(at: at, act: act)) }
    switch scale {
    case .devices: for _ in 0..<8 { add(random.within(start...end), .post(random.pick(writers))) }
    case .history:
      for _ in 0..<250 {
        let at = random.within(start + .seconds(5)...end)
        let guardian = random.pick(guardians)
        let handle = random.pick(Self.handles)
        switch random.below(10) {
        case 0..<6: add(at, .post(random.pick(writers)))
        case 6..<9: add(at, .contact(guardian, handle, known: random.chance(50)))
        default: add(at, .withdraw(guardian, handle, everywhere: random.chance(50)))
        }
      }
    case .flood:
      for _ in 0..<3 {
        let writer = random.pick(writers)
        let at = random.within(start + .seconds(5)...end)
        for index in 0..<(random.chance(20) ? 1_300 : 100 + random.below(300)) {
          add(at + .milliseconds(index), .post(writer))
        }
      }
    case .years: break
    }
  }

  /// Draws clocks that are years off for a while.
  private mutating func drawYears(_ random: inout SeededRandom) {
    for _ in 0..<(1 + random.below(4)) {
      let device = random.pick(Array(devices.indices))
      let process = random.chance(30) ? Act.Process.relay : .device(device)
      let jump = Milliseconds.days(365 * (1 + random.below(20)) * (random.chance(50) ? 1 : -1))
      let at = random.within(.hours(6)...max(.hours(7), healing - .minutes(2)))
      steps.append(Step(at: at, act: .clock(process, by: jump)))
      let back = min(healing - .milliseconds(1), at + random.milliseconds(1_000...7_200_000))
      steps.append(Step(at: back, act: .clock(process, by: .zero - jump)))
    }
  }
}
