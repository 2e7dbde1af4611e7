public import FamilyModel

/// The part of the library inside an app: the known handles, the responses, and the questions under way.
///
/// An entry is applied once (the known handles), delivered to the app's code, and then consumed; both
/// positions are durable before the device hears of them. After a crash the device sends again what it was
/// not told of: an entry that was applied changes nothing, and one that was consumed is not delivered.
public struct AppMachine: Sendable {
  /// What happens to the app.
  public enum Input: Sendable {
    /// The device is connected, anew or again.
    case connected
    /// The device is away.
    case disconnected
    /// The device says something.
    case reply(AppReply)
    /// The app asks.
    case ask(Question)
    /// The app listens to responses (R7).
    case subscribe
    /// The app's code has handled the response at this position.
    case consumed(UInt64)
  }

  /// What is to be done, in this order within a step.
  public enum Effect: Hashable, Sendable {
    /// Make these changes durable in one transaction.
    case persist([AppRecordChange])
    /// Send to the device.
    case send(AppRequest)
    /// Give the response to the app's code.
    case deliver(UInt64, Question, Choice)
    /// An `ask` has ended.
    case asked(QuestionID, AskOutcome)
    /// Everything that waited at the device has been delivered.
    case caughtUp
  }

  private let app: AppID
  /// The handles that are known, in canonical form.
  public private(set) var known: Set<Handle> = []
  private var applied: UInt64 = 0
  private var consumed: UInt64 = 0
  private var isConnected = false
  private var isSubscribed = false
  private var asking: [Question] = []
  /// Delivered or waiting for a subscriber, ascending.
  private var waiting: [(position: UInt64, question: Question, choice: Choice)] = []
  private var lastDelivered: UInt64 = 0

  /// The app, restored from its records.
  public init(_ app: AppID, restoring records: [AppRecord] = []) {
    self.app = app
    for record in records {
      switch record {
      case .known(let handle): known.insert(handle)
      case .position(let applied, let consumed):
        self.applied = applied
        self.consumed = consumed
      }
    }
    lastDelivered = consumed
  }

  /// Takes one input and says what is to be done.
  public mutating func step(_ input: Input) -> [Effect] {
    switch input {
    case .connected:
      isConnected = true
      waiting = waiting.filter { $0.position <= lastDelivered }
      return [.send(.attach(app: app, applied: applied))]
        + (isSubscribed ? [.send(.register)] : []) + asking.map { .send(.ask($0)) }
    case .disconnected:
      isConnected = false
      return []
    case .ask(let question):
      asking.append(question)
      return isConnected ? [.send(.ask(question))] : []
    case .subscribe:
      guard !isSubscribed else { return [] }
      isSubscribed = true
      return (isConnected ? [.send(.register)] : []) + deliver()
    case .consumed(let position): return consume(position)
    case .reply(let reply): return handle(reply)
    }
  }

  private mutating func handle(_ reply: AppReply) -> [Effect] {
    switch reply {
    case .attached(let acknowledged):
      // Whoever has the app's positions from another device starts from that device's.
      guard acknowledged > consumed else { return [] }
      consumed = acknowledged
      lastDelivered = max(lastDelivered, consumed)
      return [.persist([.put(.position(applied: applied, consumed: consumed))])]
    case .reset(let position, let handles):
      known = Set(handles)
      applied = position
      consumed = position
      lastDelivered = position
      waiting = []
      let changes =
        [.forgetAll] + handles.map { AppRecordChange.put(.known($0)) }
        + [.put(.position(applied: applied, consumed: consumed))]
      return [.persist(changes)]
    case .entry(let entry): return apply(entry)
    case .caughtUp: return [.caughtUp]
    case .asked(let id, let outcome):
      guard let index = asking.firstIndex(where: { $0.id == id }) else { return [] }
      asking.remove(at: index)
      return [.asked(id, outcome)]
    case .failed(let problem):
      // The device could not read a question: it is the last one that was sent.
      guard let question = asking.popLast() else { return [] }
      return [.asked(question.id, .refused(problem))]
    }
  }

  private mutating func apply(_ entry: AppEntry) -> [Effect] {
    guard entry.position > consumed else { return [.send(.acknowledge(consumed))] }
    var effects: [Effect] = []
    if entry.position > applied {
      guard entry.position == applied + 1 else {
        return [.send(.attach(app: app, applied: applied))]
      }
      applied = entry.position
      let changes = learn(entry.body) + [.put(.position(applied: applied, consumed: consumed))]
      effects.append(.persist(changes))
    }
    if case .response(let question, let choice) = entry.body,
      !waiting.contains(where: { $0.position == entry.position })
    {
      waiting.append((entry.position, question, choice))
      waiting.sort { $0.position < $1.position }
    }
    return effects + deliver() + (waiting.isEmpty ? consume(applied) : [])
  }

  private mutating func learn(_ body: AppEntry.Body) -> [AppRecordChange] {
    switch body {
    case .response(_, let choice) where choice.answer == .denial: return []
    case .response(let question, _): return remember(question.topic.handles.map(\.canonical))
    case .known(let handles): return remember(handles)
    case .forgotten(let handles):
      known.subtract(handles)
      return handles.map { .forget($0) }
    }
  }

  private mutating func remember(_ handles: [Handle]) -> [AppRecordChange] {
    known.formUnion(handles)
    return handles.map { .put(.known($0)) }
  }

  private mutating func deliver() -> [Effect] {
    guard isSubscribed else { return [] }
    let new = waiting.filter { $0.position > lastDelivered }
    lastDelivered = max(lastDelivered, new.last?.position ?? 0)
    return new.map { .deliver($0.position, $0.question, $0.choice) }
  }

  private mutating func consume(_ position: UInt64) -> [Effect] {
    waiting.removeAll { $0.position <= position }
    // Entries without a response need nobody: they go with the last response before them.
    let done = waiting.first.map { $0.position - 1 } ?? applied
    guard done > consumed else { return [] }
    consumed = done
    lastDelivered = max(lastDelivered, done)
    return [
      .persist([.put(.position(applied: applied, consumed: consumed))]),
      .send(.acknowledge(consumed)),
    ]
  }
}
