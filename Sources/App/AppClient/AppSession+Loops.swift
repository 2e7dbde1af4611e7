package import FamilyModel

extension AppSession {
  /// Opens a loop over the responses of one kind, from any thread. The loop receives the unhandled
  /// ones first.
  package nonisolated func openLoop(_ kind: Topic.Kind) -> ResponseLoop {
    let loop = ResponseLoop(self, kind)
    Task { await subscribeNewLoops() }
    return loop
  }

  /// Permits the device to launch the app, from any thread.
  package nonisolated func register() { Task { await step(.register) } }

  /// Subscribes the machine to the kinds of new loops.
  func subscribeNewLoops() { for kind in loops.takeNewKinds() { step(.subscribe(kind)) } }

  func requested(by id: UInt64, after position: UInt64?) {
    if let position { loops.handled(position, by: id) }
    consumeHandled()
  }

  /// Finishes the loops that ended a grace period ago. The timer finishes the others.
  func finishDueLoops() {
    loops.finishEnded(now: elapsed)
    consumeHandled()
    schedule()
  }

  /// Counts the last responses of all ended loops as handled, because the process does not fail.
  package func finishEndedLoops() {
    loops.finishEnded(now: nil)
    consumeHandled()
  }

  private func consumeHandled() {
    for position in loops.takeHandled() { step(.consumed(position)) }
  }

  /// Whether an ended loop has not outlived its grace period.
  nonisolated var hasEndedLoops: Bool { loops.hasEnded }

  // MARK: the state of the loops, for tests of apps

  /// Whether no open loop has a response before it, apart from loops of the given task, and no monitor a
  /// moment.
  package nonisolated func isResting(except task: Int?) -> Bool {
    loops.isResting(except: task)
      && moments.withLock { $0.reader == nil || $0.deliveries.isEmpty }
  }

  /// Whether a loop has opened or a monitor waits, and every response and moment is handled.
  package nonisolated var isFinished: Bool {
    moments.withLock { moments in
      guard moments.reader != nil else { return loops.isFinished }
      return moments.deliveries.isEmpty && (loops.isFinished || loops.count == 0)
    }
  }

  /// The number of open loops.
  package nonisolated var openLoops: Int { loops.count }

  /// Whether the task waits in a loop that has no response before it.
  package nonisolated func isWaiting(_ task: Int) -> Bool { loops.isWaiting(task) }

  /// Ends all open loops, as a cancellation does.
  package nonisolated func endLoops() { loops.finishAll() }
}
