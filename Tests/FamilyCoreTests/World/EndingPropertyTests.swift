import FamilyModel
import TestThreads
import Testing

@testable import FamilyCore

/// Random clocks, restarts and devices against an approval for an hour.
@Suite(.ownThread) struct EndingPropertyTests {
  /// How a run judges whether the handle is known.
  private enum Judge { case product, presentClock }

  /// One run of a child's device on its own clock, after the approval.
  private struct Run {
    var random: IDSource
    var machine: ChildMachine
    var disk: [RecordKey: DeviceRecord]
    var clock: Instant
    /// The highest time that the device has seen since the approval.
    var highest: Instant
    /// The time that passed while the device ran, however its clock was set.
    var passed = Milliseconds.zero
    let end: Instant
    var entries = 0

    mutating func below(_ bound: UInt64) -> Int64 { Int64(random.next() % bound) }

    mutating func step(_ input: ChildMachine.Input) {
      for case .persist(let changes) in machine.step(input, now: clock) {
        for change in changes {
          switch change {
          case .put(let record):
            if case .entry(World.app, let entry) = record, case .forgotten = entry.body {
              entries += 1
            }
            disk[record.key] = record
          case .delete(let key): disk[key] = nil
          }
        }
      }
      highest = max(highest, clock)
    }

    /// Time passes, in steps of at most the machine's own deadline.
    mutating func run(_ duration: Milliseconds) {
      var left = duration
      while left > .zero {
        let due = machine.deadline.map { max(.milliseconds(1), $0 - clock) } ?? left
        let next = min(left, due)
        clock = clock + next
        passed += next
        left = left - next
        step(.timer)
      }
    }

    mutating func restart() {
      machine = ChildMachine(
        machine.link.address, of: World.emily, apps: [World.app],
        restoring: disk.values.sorted { "\($0.key)" < "\($1.key)" },
        ids: IDSource(seed: random.next()))
    }

    func isKnown(_ judge: Judge) -> Bool {
      guard judge == .presentClock else {
        return machine.knownHandles(in: World.app).contains(EndingTests.ada)
      }
      var known = KnownHandles()
      for statement in machine.known.statements(of: EndingTests.ada, in: World.app) {
        known.restore(statement, in: World.app)
      }
      known.advance(to: clock)
      return known.contains(EndingTests.ada, in: World.app)
    }
  }

  private static func run(_ seed: UInt64, device: UInt32, in world: World) -> Run {
    Run(
      random: IDSource(seed: seed), machine: world.children[device]!, disk: world.disks[device]!,
      clock: world.now, highest: world.now, end: world.now + .hours(1))
  }

  /// Plays a run.
  ///
  /// - Returns: Whether the handle was ever known after the end, by the highest time that the device
  ///   has seen or by the time that passed while the device ran.
  private static func isLengthened(
    _ seed: UInt64, device: UInt32, in world: World, _ judge: Judge
  ) -> Bool {
    var run = run(seed, device: device, in: world)
    for _ in 0..<24 {
      switch run.below(6) {
      case 0, 1: run.run(.minutes(run.below(12) + 1))
      case 2:
        run.clock = run.clock - .minutes(run.below(3_000))
        run.step(.clockSetBack)
      case 3:
        run.clock = run.clock + .minutes(run.below(20))
        run.step(.timer)
      case 4: run.restart()
      default:
        run.clock = run.clock - .minutes(run.below(100))
        run.restart()
      }
      let hasEnded = run.highest >= run.end || run.passed >= .hours(1) + .minutes(1)
      if hasEnded, run.isKnown(judge) { return true }
    }
    run.run(.hours(2))
    #expect(run.entries == 1, "seed \(seed)")
    return run.isKnown(judge)
  }

  @Test("Q12: no clock and no restart lengthens an approval with an end", arguments: [3, 4])
  func lengthened(_ device: UInt32) {
    let world = EndingTests.approved()
    for seed in 0..<40 as Range<UInt64> {
      #expect(!Self.isLengthened(seed, device: device, in: world, .product), "seed \(seed)")
    }
  }

  @Test("Q12: the property catches a device that judges by its present clock") func mutant() {
    let world = EndingTests.approved()
    #expect(
      (0..<40 as Range<UInt64>).contains {
        Self.isLengthened($0, device: 3, in: world, .presentClock)
      })
  }
}
