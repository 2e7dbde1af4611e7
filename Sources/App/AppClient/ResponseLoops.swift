package import FamilyModel
import Synchronization

/// A response on its way to the app's loops.
package struct Delivery: Sendable {
  /// The position of the app entry.
  package let position: UInt64
  /// The question.
  package let question: Question
  /// The decision.
  package let choice: Choice
}

/// One loop over responses: open from its creation to its deinitialization.
///
/// The loop's iterator owns the object, so `break`, `return` and a thrown error end the loop too.
package final class ResponseLoop: Sendable {
  /// The part of a loop that its session may keep: nothing here ends the loop.
  final class State: Sendable {
    let kind: Topic.Kind
    let continuation: AsyncStream<Delivery>.Continuation
    /// The position that the loop's body has, and the task that last requested a response.
    let current = Mutex<(position: UInt64?, task: Int?)>((nil, nil))

    init(_ kind: Topic.Kind, _ continuation: AsyncStream<Delivery>.Continuation) {
      self.kind = kind
      self.continuation = continuation
    }
  }

  private let session: AppSession
  private let id: UInt64
  private let state: State
  /// The responses for the loop's body.
  package let deliveries: AsyncStream<Delivery>

  init(_ session: AppSession, _ kind: Topic.Kind) {
    let (stream, continuation) = AsyncStream<Delivery>.makeStream()
    self.session = session
    deliveries = stream
    state = State(kind, continuation)
    id = session.loops.open(state)
  }

  deinit { session.loops.end(id, at: state.current.withLock { $0.position }, in: session) }

  /// Requests the next response, which handles the last one.
  package func requestNext() async {
    let task = withUnsafeCurrentTask { $0?.hashValue }
    let last = state.current.withLock { current in
      defer { current = (nil, task) }
      return current.position
    }
    await session.requested(by: id, after: last)
  }

  /// Handles the response at `position`, in any order and without a request for the next one.
  package func handled(_ position: UInt64) async {
    await session.requested(by: id, after: position)
  }

  /// The loop's body has the response at `position`.
  package func received(_ position: UInt64) {
    state.current.withLock { $0.position = position }
  }
}

/// The open loops over responses, and the responses that are not handled.
///
/// - A response is delivered → (each loop that was open then has requested the next response, or
///   has ended) handled. Loops that open meanwhile join.
/// - A loop that ends without a request has handled its last response once the process outlives the
///   loop by the grace period. A process that fails earlier receives the response again.
/// - Responses that an ended loop never received stay unhandled, for the next loop.
///
/// Guarded by a lock, because loops open and end on any thread.
final class ResponseLoops: Sendable {
  fileprivate struct Pending {
    let delivery: Delivery
    /// The loops that have not handled the response.
    var awaited: Set<UInt64> = []
    var isHandled = false
  }

  fileprivate struct State {
    var lastLoop: UInt64 = 0
    var open: [UInt64: ResponseLoop.State] = [:]
    /// Unhandled responses, in order.
    var pending: [Pending] = []
    /// Ended loops with the position that their body had, and the end of the grace period.
    var ended: [UInt64: (position: UInt64, due: Duration?)] = [:]
    /// The kinds of loops that opened, for the machine.
    var newKinds: [Topic.Kind] = []
  }

  private let state = Mutex(State())

  /// Opens a loop, which receives the unhandled responses of its kind first.
  ///
  /// - Returns: The loop's number.
  func open(_ loop: ResponseLoop.State) -> UInt64 {
    state.withLock { state in
      state.lastLoop += 1
      let id = state.lastLoop
      state.open[id] = loop
      state.newKinds.append(loop.kind)
      for index in state.pending.indices
      where state.pending[index].delivery.question.topic.kind == loop.kind
        && state.isOffered(state.pending[index])
      {
        state.pending[index].awaited.insert(id)
        loop.continuation.yield(state.pending[index].delivery)
      }
      return id
    }
  }

  func end(_ id: UInt64, at position: UInt64?, in session: AppSession) {
    let due = session.timing.loopGrace.map { session.elapsed + $0 }
    state.withLock { state in
      state.open[id] = nil
      if let position { state.ended[id] = (position, due) }
      for index in state.pending.indices
      where state.pending[index].delivery.position != position {
        state.pending[index].awaited.remove(id)
      }
    }
    // Responses that this loop alone had yet to receive may be complete now.
    Task { await session.finishDueLoops() }
  }

  /// The kinds of loops that opened since the last call.
  func takeNewKinds() -> [Topic.Kind] {
    state.withLock { state in
      defer { state.newKinds = [] }
      return state.newKinds
    }
  }

  func deliver(_ delivery: Delivery) {
    state.withLock { state in
      var pending = Pending(delivery: delivery)
      for (id, loop) in state.open where loop.kind == delivery.question.topic.kind {
        pending.awaited.insert(id)
        loop.continuation.yield(delivery)
      }
      state.pending.append(pending)
    }
  }

  /// The end of the first grace period.
  var deadline: Duration? { state.withLock { $0.ended.values.compactMap { $0.due }.min() } }

  /// Counts the response as handled by the loop.
  func handled(_ position: UInt64, by id: UInt64) {
    state.withLock { $0.handled(position, by: id) }
  }

  /// Counts the last responses of ended loops as handled: of all of them, or of those whose grace
  /// period is over at `now`.
  func finishEnded(now: Duration?) {
    state.withLock { state in
      for (id, end) in state.ended {
        if let now {
          guard let due = end.due, due <= now else { continue }
        }
        state.ended[id] = nil
        state.handled(end.position, by: id)
      }
    }
  }

  /// Removes and returns the positions of handled responses, in order.
  func takeHandled() -> [UInt64] {
    state.withLock { state in
      let handled = state.pending.filter { $0.isHandled && $0.awaited.isEmpty }
      state.pending.removeAll { $0.isHandled && $0.awaited.isEmpty }
      return handled.map(\.delivery.position)
    }
  }

  /// Whether an ended loop has not outlived its grace period.
  var hasEnded: Bool { state.withLock { !$0.ended.isEmpty } }

  /// Whether a loop has opened in this process, and every response is handled.
  var isFinished: Bool { state.withLock { $0.lastLoop > 0 && $0.pending.isEmpty } }

  /// The number of open loops.
  var count: Int { state.withLock { $0.open.count } }

  /// Whether no open loop has a response before it, apart from loops of the given task.
  func isResting(except task: Int?) -> Bool {
    state.withLock { state in
      let own = state.open.filter { $0.value.current.withLock { $0.task == task && task != nil } }
      let settled = Set(own.keys).union(state.ended.keys)
      return state.pending.allSatisfy { $0.awaited.isSubset(of: settled) }
    }
  }

  /// Whether the task waits in a loop that has no response before it.
  func isWaiting(_ task: Int) -> Bool {
    state.withLock { state in
      state.open.contains { id, loop in
        loop.current.withLock { $0.task == task && $0.position == nil }
          && !state.pending.contains { $0.awaited.contains(id) }
      }
    }
  }

  /// Ends all open loops, as a cancellation does.
  func finishAll() { for loop in state.withLock({ $0.open.values }) { loop.continuation.finish() } }
}

extension ResponseLoops.State {
  /// Whether a new loop receives the response: no loop has handled it, or an open loop still
  /// handles it.
  fileprivate func isOffered(_ pending: ResponseLoops.Pending) -> Bool {
    pending.awaited.isEmpty ? !pending.isHandled : !pending.awaited.isSubset(of: ended.keys)
  }

  fileprivate mutating func handled(_ position: UInt64, by id: UInt64) {
    guard let index = pending.firstIndex(where: { $0.delivery.position == position }) else {
      return
    }
    pending[index].awaited.remove(id)
    pending[index].isHandled = true
  }
}
