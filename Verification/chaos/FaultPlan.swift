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
    case clock
    case powerLoss = "power-loss"
    case damagedRelay = "damaged-relay"
    case damagedAgent = "damaged-agent"
    case netem

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
      case .clock: "a process's wall clock jumps by up to two days and back"
      case .powerLoss: "the relay's machine loses power: unsynced data is lost or torn"
      case .damagedRelay: "flipped bytes in the relay's file; the file is restored later"
      case .damagedAgent:
        "flipped bytes in an agent's file; the file is removed, the agent fetches again"
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

/// All faults of a run. Each kind occurs once before any kind repeats.
struct FaultPlan: Sendable {
  /// Seconds before the first fault.
  static let quiet = 1.0
  /// The random gap between the starts of two faults, in seconds.
  static let gap = 0.6...2.4

  let faults: [Fault]

  init(seed: UInt64, seconds: Double, agents: [String], kinds: [Fault.Kind]) {
    var random = IDSource(seed: seed)
    var faults: [Fault] = []
    var deck: [Fault.Kind] = []
    var at = Self.quiet
    while at < seconds, !kinds.isEmpty {
      if deck.isEmpty { deck = kinds.shuffled(using: &random) }
      let kind = deck.removeLast()
      let victims = Self.victims(of: kind, agents, &random)
      faults.append(
        Fault(
          kind: kind, at: at, lasts: Self.duration(of: kind, &random), victims: victims,
          seed: random.next()))
      at += Double.random(in: Self.gap, using: &random)
    }
    self.faults = faults
  }

  private static func duration(of kind: Fault.Kind, _ random: inout IDSource) -> Double {
    switch kind {
    case .kill, .storm, .powerLoss: 0
    case .stop: .random(in: 0.2...5, using: &random)
    case .cut, .slow, .slowDisk, .clock, .netem: .random(in: 0.5...6, using: &random)
    // Sometimes longer than a device's timeout for the relay.
    case .blackHole, .oneWay:
      .random(in: 0.5...(Bool.random(using: &random) ? 5 : 25), using: &random)
    case .diskFull: .random(in: 0.5...4, using: &random)
    case .damagedRelay, .damagedAgent: 1
    }
  }

  private static func victims(
    of kind: Fault.Kind, _ agents: [String], _ random: inout IDSource
  ) -> [String] {
    let apps = agents.filter { $0.hasPrefix("child") }.map { $0 + "*" }
    switch kind {
    case .powerLoss, .damagedRelay: return ["relay"]
    case .netem: return ["relay"]
    case .damagedAgent: return [agents.randomElement(using: &random)!]
    case .diskFull, .slowDisk, .storm, .clock:
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
