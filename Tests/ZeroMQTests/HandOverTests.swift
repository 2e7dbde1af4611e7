import Testing

@testable import ZeroMQ

/// Tries all orders of the steps of a socket thread and of threads that hand work over to it.
@Suite struct HandOverTests {
  /// Defects of the hand-over.
  enum Defect: CaseIterable {
    /// The thread clears the request after its turn.
    case clearsLate
    /// The thread decides to sleep without the lock.
    case decidesEarly
    /// A request leaves no trace for a thread that is awake.
    case forgets
    /// A request wakes nobody.
    case wakesNobody
  }

  /// The steps of the socket thread. Each is one access to the lock, to the work or to the descriptor.
  enum Step: Int { case begin, run, clear, decide, sleep, poll, wake, read }

  /// A thread that hands work over: it adds work, requests a turn, and wakes the socket thread if it must.
  struct Producer {
    enum Step: Int { case add, request, wake }
    var step = Step.add
    /// The hand-overs that are left.
    var left: Int
  }

  struct Model {
    var inbox = SocketThreadInbox()
    var step = Step.begin
    var isAsleep = false
    var decision = false
    /// The count of the wake-up descriptor.
    var wakeUps = 0
    /// Work that was handed over, and that no turn has seen.
    var work = 0
    var producers: [Producer]

    /// All that decides the further steps.
    var key: [Int] {
      [
        inbox.sleeping ? 1 : 0, inbox.isTurnRequested ? 1 : 0, isAsleep ? 1 : 0, decision ? 1 : 0,
        wakeUps, work, step.rawValue,
      ] + producers.flatMap { [$0.step.rawValue, $0.left] }
    }

    /// Whether the socket thread waits for a wake-up.
    var isBlocked: Bool { step == .poll && isAsleep && wakeUps == 0 }

    mutating func runSocketThread(_ defect: Defect?) {
      switch step {
      case .begin:
        let isRequested = inbox.isTurnRequested
        _ = inbox.beginTurn()
        if defect == .clearsLate { inbox.isTurnRequested = isRequested }
        step = .run
      case .run:
        work = 0
        step = defect == .clearsLate ? .clear : .decide
      case .clear:
        inbox.isTurnRequested = false
        step = .decide
      case .decide:
        if defect == .decidesEarly {
          decision = !inbox.isTurnRequested
          step = .sleep
        } else {
          isAsleep = inbox.fallAsleep()
          step = .poll
        }
      case .sleep:
        (inbox.sleeping, isAsleep) = (decision, decision)
        step = .poll
      case .poll: step = .wake
      case .wake:
        (inbox.sleeping, isAsleep) = (false, false)
        step = .read
      case .read:
        wakeUps = 0
        step = .begin
      }
    }

    mutating func runProducer(_ index: Int, _ defect: Defect?) {
      switch producers[index].step {
      case .add:
        work += 1
        producers[index].step = .request
      case .request:
        let mustWake = defect == .forgets ? inbox.claimWakeUp() : inbox.requestTurn()
        if mustWake, defect != .wakesNobody {
          producers[index].step = .wake
        } else {
          end(index)
        }
      case .wake:
        wakeUps += 1
        end(index)
      }
    }

    private mutating func end(_ index: Int) {
      producers[index] = Producer(left: producers[index].left - 1)
    }
  }

  /// Explores all orders.
  ///
  /// - Returns: The states, and whether the socket thread sleeps for good beside work in one of them.
  private func explore(_ producers: [Int], _ defect: Defect? = nil) -> (states: Int, loses: Bool) {
    var seen: Set<[Int]> = []
    var open = [Model(producers: producers.map { Producer(left: $0) })]
    var loses = false
    while let model = open.popLast() {
      guard seen.insert(model.key).inserted else { continue }
      let active = model.producers.indices.filter { model.producers[$0].left > 0 }
      if !model.isBlocked {
        var next = model
        next.runSocketThread(defect)
        open.append(next)
      } else if active.isEmpty, model.work > 0 {
        loses = true
      }
      for index in active {
        var next = model
        next.runProducer(index, defect)
        open.append(next)
      }
    }
    return (seen.count, loses)
  }

  @Test("no order of three threads loses a hand-over to the socket thread")
  func all() {
    let (states, loses) = explore([3, 2, 2])
    #expect(states > 1_000 && !loses)
  }

  @Test("the exploration finds each defect of the hand-over", arguments: Defect.allCases)
  func defects(_ defect: Defect) {
    #expect(explore([2], defect).loses)
  }
}
