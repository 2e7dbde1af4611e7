import FamilyModel

/// A planned fault: its kind, time and victims, drawn from the seed before the run.
struct Fault: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case kill
    case stop
    case storm
    case cut
    case slow
    case blackHole = "black-hole"
    case oneWay = "one-way"
    case diskFull = "disk-full"
    case slowDisk = "slow-disk"
    case diskError = "disk-error"
    case clock
    case powerLoss = "power-loss"
    case damagedRelay = "damaged-relay"
    case damagedAgent = "damaged-agent"
    case restoredCopy = "restored-copy"
    case terminate
    case rollingRestart = "rolling-restart"
    case netem

    /// The kinds of a run that names none. A relay that loses what it acknowledged permits other
    /// histories, so that kind is in a run only if it is named.
    static let standard = allCases.filter { $0 != .restoredCopy }

    var meaning: String {
      switch self {
      case .kill: "SIGKILL of up to four processes at once"
      case .stop: "SIGSTOP of up to four processes, later SIGCONT"
      case .storm: "one process killed three to six times, each time right after its restart"
      case .cut: "an agent's connections closed and new ones refused"
      case .slow:
        "an agent's bytes delayed by up to 400 ms each way, stalled for up to 800 ms, or limited to 4 KB/s"
      case .blackHole: "an agent's bytes held back while its connections stay open"
      case .oneWay: "an agent's bytes held back in one direction"
      case .diskFull: "a process's store cannot grow"
      case .slowDisk: "each sync of a process's store takes up to 300 ms longer"
      case .diskError: "reads, writes or syncs of a process's store fail with EIO"
      case .clock: "a process's wall clock jumps by up to two days and back"
      case .powerLoss:
        "the relay, an agent or all machines lose power: unsynced data is lost or torn"
      case .damagedRelay: "flipped bytes in the relay's file; the file is restored later"
      case .damagedAgent:
        "flipped bytes in an agent's file; the file is removed, the agent fetches again"
      case .restoredCopy: "the relay's store is replaced by an earlier copy of itself"
      case .terminate: "SIGTERM of up to four processes at once; each ends with code 0 in time"
      case .rollingRestart: "SIGTERM of each process, one after another"
      case .netem: "loss, delay and duplication of packets (tc netem)"
      }
    }
  }

  var kind: Kind
  /// Seconds after the run's start.
  var at: Double
  /// The duration in seconds.
  var lasts: Double
  /// The names of the target processes. An app has its agent's name with a star.
  var victims: [String]
  /// The seed of the fault's further random choices.
  var seed: UInt64
}

/// All faults of a run. Each kind occurs once before any kind repeats. A restored copy occurs once.
struct FaultPlan: Sendable {
  /// Seconds before the first fault.
  static let quiet = 1.0
  /// The random gap between the starts of two faults, as parts of the mean.
  static let gap = 0.4...1.6
  /// The mean seconds between the starts of two faults, by default.
  static let pause = 1.5

  let faults: [Fault]

  /// - Parameter pause: The mean seconds between the starts of two faults.
  init(
    seed: UInt64, seconds: Double, pause: Double = Self.pause, agents: [String],
    kinds: [Fault.Kind]
  ) {
    var random = IDSource(seed: seed)
    var faults: [Fault] = []
    var kinds = kinds
    var deck: [Fault.Kind] = []
    var at = Self.quiet
    while at < seconds {
      if deck.isEmpty { deck = kinds.shuffled(using: &random) }
      guard let kind = deck.popLast() else { break }
      // Devices wait for a minute and more before they give a second loss back.
      if kind == .restoredCopy { kinds.removeAll { $0 == kind } }
      let victims = Self.victims(of: kind, agents, &random)
      faults.append(
        Fault(
          kind: kind, at: at, lasts: Self.duration(of: kind, &random), victims: victims,
          seed: random.next()))
      at += pause * Double.random(in: Self.gap, using: &random)
    }
    self.faults = faults
  }

  private static func duration(of kind: Fault.Kind, _ random: inout IDSource) -> Double {
    switch kind {
    case .kill, .storm, .powerLoss, .terminate, .rollingRestart: 0
    case .restoredCopy: .random(in: 2...8, using: &random)
    case .stop: .random(in: 0.2...5, using: &random)
    case .cut, .slow, .slowDisk, .clock, .netem: .random(in: 0.5...6, using: &random)
    // Sometimes longer than a device's timeout for the relay.
    case .blackHole, .oneWay:
      .random(in: 0.5...(Bool.random(using: &random) ? 5 : 25), using: &random)
    case .diskFull, .diskError: .random(in: 0.5...4, using: &random)
    case .damagedRelay, .damagedAgent: 1
    }
  }

  private static func victims(
    of kind: Fault.Kind, _ agents: [String], _ random: inout IDSource
  ) -> [String] {
    let apps = agents.filter { $0.hasPrefix("child") }.map { $0 + "*" }
    switch kind {
    case .powerLoss:
      // The relay, one agent, or all machines at once.
      switch Int.random(in: 0..<5, using: &random) {
      case 0..<2: return ["relay"]
      case 2..<4: return [agents.randomElement(using: &random)!]
      default: return ["relay"] + agents
      }
    case .damagedRelay, .restoredCopy, .netem: return ["relay"]
    case .rollingRestart: return (["relay"] + agents).shuffled(using: &random)
    case .terminate:
      let all = (["relay"] + agents).shuffled(using: &random)
      return Array(all.prefix(.random(in: 1...4, using: &random)))
    case .damagedAgent: return [agents.randomElement(using: &random)!]
    case .diskFull, .slowDisk, .diskError, .storm, .clock:
      let all = ["relay", "relay"] + agents
      return [all.randomElement(using: &random)!]
    case .cut, .slow, .blackHole, .oneWay:
      return Array(
        agents.shuffled(using: &random).prefix(.random(in: 1...agents.count, using: &random)))
    case .kill, .stop:
      let all = (["relay"] + agents + apps).shuffled(using: &random)
      let chosen = Array(all.prefix(.random(in: 1...4, using: &random)))
      // The relay is one process of many, so add it to half of these faults.
      return Bool.random(using: &random) && !chosen.contains("relay") ? chosen + ["relay"] : chosen
    }
  }
}
