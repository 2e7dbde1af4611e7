import FamilyModel
/// What chaos breaks, when, and whose: drawn from a seed before the run begins.
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
      case .storm: "the same process killed as soon as it is up, three to six times"
      case .cut: "an agent's connections closed, and new ones refused"
      case .slow:
        "an agent's bytes late by up to 400 ms each way, stalled for up to 800, or down to 4 KB a second"
      case .blackHole: "an agent's bytes go nowhere while its connections stay"
      case .oneWay: "the same, one way only"
      case .diskFull: "the disk takes no growth of a process's store"
      case .slowDisk: "each sync of a process's store takes up to 300 ms longer"
      case .clock: "a process's wall clock jumps by up to two days, and back"
      case .powerLoss: "the relay's machine loses power: what was not synced is gone, or torn"
      case .damagedRelay: "bytes of the relay's file are flipped; later the file is restored"
      case .damagedAgent:
        "bytes of an agent's file are flipped; later it is removed, and fetched again"
      case .netem: "loss, delay and duplication of packets (tc netem)"
      }
    }
  }

  var kind: Kind
  /// Seconds after the beginning.
  var at: Double
  /// Seconds.
  var lasts: Double
  /// Processes by name; an app's is its agent's, with a star.
  var victims: [String]
  /// What else is random about it.
  var seed: UInt64
}

struct FaultPlan: Sendable {
  /// Seconds without a fault at the beginning.
  static let quiet = 1.0
  /// Seconds between two faults, at random.
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
    // Longer than what a device waits for a sign of the relay, now and then.
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
      let some = Array(all.prefix(.random(in: 1...4, using: &random)))
      // The relay is one of many: without this it would seldom be hit.
      return Bool.random(using: &random) && !some.contains("relay") ? some + ["relay"] : some
    }
  }
}
