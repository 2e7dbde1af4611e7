import DeviceAgent
import FamilyCore
import FamilyModel
import Synchronization
import ZeroMQ

/// The people and apps of one host's families: they ask, answer, handle responses and measure the
/// latencies.
///
/// The devices are production code. The host calls this object on its thread; the generator calls
/// it on others.
final class SimulatedUsers: Responder, LocalApps, AgentObserver {
  static let app = AppID("example.landmarks")

  struct State {
    let deviceCount: Int
    var recorder: HistoryRecorder
    var inFlight: [QuestionID: InFlightQuestion] = [:]
    /// The app machine of each family, from its first question on.
    var apps: [FamilyID: AppMachine] = [:]
    /// Families whose app does not run.
    var asleep: Set<FamilyID> = []
    /// Families whose app was launched by the device.
    var launched: Set<FamilyID> = []
    /// The number of overlapping reasons for which devices of a family are offline.
    var offline: [FamilyID: Int] = [:]
    /// Commands in flight with their question and time of issue.
    var commands: [CommandID: (question: QuestionID?, isAnswer: Bool, at: MonotonicInstant)] = [:]
    var answersGiven: [QuestionID: MonotonicInstant] = [:]
    var samples: [Sample] = []
    /// Devices that are attached to all their channels.
    var ready: Set<DeviceAddress> = []
    var hasRoster: Set<DeviceAddress> = []
    var counts = Counts()
    var lastFinished = MonotonicInstant.machineStart

    func isCorrect(_ kind: Kind, _ choice: String) -> Bool {
      LoadQuestion.right(kind).contains(choice)
    }
  }

  /// Counters since the start.
  struct Counts: Codable, Hashable {
    var asked = 0
    var finished = 0
    var launches = 0
    var alreadyAsked = 0
    var lateAnswers = 0
    var overloads = 0
    var refused = 0
    var wrongAnswers = 0

    var ended: Int { finished + alreadyAsked + refused }

    static func += (a: inout Counts, b: Counts) {
      a.asked += b.asked
      a.finished += b.finished
      a.launches += b.launches
      a.alreadyAsked += b.alreadyAsked
      a.lateAnswers += b.lateAnswers
      a.overloads += b.overloads
      a.refused += b.refused
      a.wrongAnswers += b.wrongAnswers
    }
  }

  let state: Mutex<State>

  init(deviceCount: Int, recorder: sending HistoryRecorder) {
    state = Mutex(State(deviceCount: deviceCount, recorder: recorder))
  }

  // MARK: calls of the generator

  /// Lets the child's app ask the planned question.
  ///
  /// - Returns: The inputs for the child's device.
  func begin(_ arrival: Arrival, scheduled: MonotonicInstant) -> [ChildMachine.Input] {
    state.withLock { state in
      let family = FamilyID(arrival.family)
      let question = LoadQuestion.make(arrival)
      state.inFlight[question.id] = InFlightQuestion(
        kind: arrival.kind, scheduled: scheduled, family: family,
        wasOffline: arrival.kind == .off || state.offline[family] != nil)
      state.counts.asked += 1
      state.measure(.lag, arrival.kind, since: scheduled)
      return state.wake(family) + state.step(.ask(question, .choose), family)
    }
  }

  /// Records that a device of the family goes offline, which excludes its questions in flight from
  /// `approval`.
  func takeOffline(_ family: FamilyID) {
    state.withLock { state in
      state.offline[family, default: 0] += 1
      for id in state.inFlight.keys where state.inFlight[id]!.family == family {
        state.inFlight[id]!.wasOffline = true
      }
    }
  }

  /// Ends one reason to be offline.
  ///
  /// - Returns: Whether no other reason remains.
  func bringOnline(_ family: FamilyID) -> Bool {
    state.withLock { state in
      let remaining = state.offline[family, default: 1] - 1
      state.offline[family] = remaining > 0 ? remaining : nil
      return remaining <= 0
    }
  }

  /// Returns and clears the samples since the last call.
  func takeSamples() -> ([Sample], Counts, lastFinished: MonotonicInstant) {
    state.withLock { state in
      defer { state.samples.removeAll(keepingCapacity: true) }
      return (state.samples, state.counts, state.lastFinished)
    }
  }

  /// The number of questions that have begun.
  var asked: Int { state.withLock { $0.counts.asked } }
  /// The number of questions in flight.
  var underway: Int { state.withLock { $0.inFlight.count } }

  /// Whether no question or command is in flight.
  var isIdle: Bool { state.withLock { $0.inFlight.isEmpty && $0.commands.isEmpty } }
  /// The number of questions that have ended.
  var ended: Int { state.withLock { $0.counts.ended } }
  /// The number of attached devices.
  var readyCount: Int { state.withLock { $0.ready.count } }

  // MARK: Responder

  nonisolated(nonsending) func answer(
    _ prompt: Prompt, in window: String
  ) async -> PromptAnswer {
    switch prompt {
    case .permission: .askByMessage
    case .compose: .send(names: [])
    default: .cancel
    }
  }

  nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer? {
    state.withLock { state in
      let id = bubble.question.id
      guard let entry = state.inFlight[id] else { return nil }
      state.inFlight[id]!.answers += 1
      guard let answer = LoadQuestion.answer(entry.kind, entry.answers) else { return nil }
      // For guardians who race, the first answer counts.
      if state.answersGiven[id] == nil { state.answersGiven[id] = MonotonicInstant.now }
      return BubbleAnswer(choice: answer.choice, reviewed: answer.reviewed)
    }
  }

  func notified(_ notice: Notice, on address: DeviceAddress) {
    guard case .decided(let id, let choice, _) = notice else { return }
    state.withLock { state in
      state.recorder.record(.decided(address, id, choice: choice.id), address.family)
      state.inFlight[id]?.shown += 1
      state.finish(id)
    }
  }

  // MARK: LocalApps

  func received(_ reply: AppReply, by app: AppID, on address: DeviceAddress) -> [ChildMachine.Input]
  {
    state.withLock { $0.step(.reply(reply), address.family) }
  }

  func launch(_ app: AppID, on address: DeviceAddress) -> [ChildMachine.Input] {
    state.withLock { state in
      state.counts.launches += 1
      state.launched.insert(address.family)
      return state.wake(address.family)
    }
  }

  // MARK: AgentObserver

  func received(_ reply: Reply, on address: DeviceAddress) {
    state.withLock { $0.received(reply, on: address) }
  }

  func received(_ broadcast: Broadcast, on address: DeviceAddress) {
    guard case .event(let event) = broadcast else { return }
    state.withLock { $0.received(event, on: address) }
  }

  func madeDurable(_ changes: [RecordChange], on address: DeviceAddress) {
    state.withLock { $0.madeDurable(changes, on: address) }
  }
}
