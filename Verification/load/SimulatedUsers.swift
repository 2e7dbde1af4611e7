import DeviceAgent
import FamilyCore
import FamilyModel
import Synchronization
import ZeroMQ

/// The people and the apps of one host's families: taps, answers, and handles responses, and takes the time.
///
/// The devices are the product's own. Whatever is here is what a device meets: a child, two guardians, an
/// app. The host calls it on its thread.
final class SimulatedUsers: Responder, LocalApps, AgentObserver {
  static let app = AppID("example.landmarks")

  struct State {
    let deviceCount: Int
    var notebook: HistoryRecorder
    var flights: [QuestionID: InFlightQuestion] = [:]
    /// The library in each child's app, from its first question on.
    var apps: [FamilyID: AppMachine] = [:]
    /// Apps that do not run.
    var asleep: Set<FamilyID> = []
    /// Apps that run because their device launched them.
    var launched: Set<FamilyID> = []
    /// How many reasons there are for a device of the family to be off the network.
    var offline: [FamilyID: Int] = [:]
    /// Commands under way: the question, and when it was issued.
    var commands: [CommandID: (question: QuestionID?, isAnswer: Bool, at: UInt64)] = [:]
    var answersGiven: [QuestionID: UInt64] = [:]
    var samples: [Sample] = []
    /// Devices that have their family and its channels.
    var ready: Set<DeviceAddress> = []
    var hasRoster: Set<DeviceAddress> = []
    var counts = Counts()
    var lastFinished: UInt64 = 0

    func isRight(_ kind: Kind, _ choice: String) -> Bool {
      LoadQuestion.right(kind).contains(choice)
    }
  }

  /// What was counted.
  struct Counts: Codable, Hashable {
    var asked = 0
    var finished = 0
    var launches = 0
    var alreadyAsked = 0
    var lateAnswers = 0
    var overloads = 0
    var refused = 0
    var wrongAnswers = 0

    var over: Int { finished + alreadyAsked + refused }

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

  init(deviceCount: Int, notebook: sending HistoryRecorder) {
    state = Mutex(State(deviceCount: deviceCount, notebook: notebook))
  }

  // MARK: for the generator

  /// The child's app asks; tells what its device is to be given.
  func begin(_ arrival: Arrival, scheduled: UInt64) -> [ChildMachine.Input] {
    state.withLock { state in
      let family = FamilyID(arrival.family)
      let question = LoadQuestion.make(arrival)
      state.flights[question.id] = InFlightQuestion(
        kind: arrival.kind, scheduled: scheduled, family: family,
        isHeldUp: arrival.kind == .off || state.offline[family] != nil)
      state.counts.asked += 1
      state.measure(.lag, arrival.kind, since: scheduled)
      return state.wake(family) + state.step(.ask(question, .choose), family)
    }
  }

  /// A device of the family goes off the network: what is under way there is held up.
  func holdUp(_ family: FamilyID) {
    state.withLock { state in
      state.offline[family, default: 0] += 1
      for id in state.flights.keys where state.flights[id]!.family == family {
        state.flights[id]!.isHeldUp = true
      }
    }
  }

  /// It is back; tells whether all devices of the family are to be.
  func letGo(_ family: FamilyID) -> Bool {
    state.withLock { state in
      let left = state.offline[family, default: 1] - 1
      state.offline[family] = left > 0 ? left : nil
      return left <= 0
    }
  }

  /// Takes what was measured since the last call.
  func takeSamples() -> ([Sample], Counts, lastFinished: UInt64) {
    state.withLock { state in
      defer { state.samples.removeAll(keepingCapacity: true) }
      return (state.samples, state.counts, state.lastFinished)
    }
  }

  /// Questions that have begun.
  var asked: Int { state.withLock { $0.counts.asked } }
  /// Questions that are not over.
  var underway: Int { state.withLock { $0.flights.count } }

  /// Whether nothing is under way: every question is handled and shown, every command is settled.
  var isIdle: Bool { state.withLock { $0.flights.isEmpty && $0.commands.isEmpty } }
  /// Questions that came to their end.
  var over: Int { state.withLock { $0.counts.over } }
  /// Devices that have their family and its channels.
  var readyCount: Int { state.withLock { $0.ready.count } }

  // MARK: Responder

  nonisolated(nonsending) func answer(_ prompt: Prompt) async -> PromptAnswer {
    switch prompt {
    case .permission: .askByMessage
    case .compose: .send(names: [])
    default: .cancel
    }
  }

  nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer? {
    state.withLock { state in
      let id = bubble.question.id
      guard let flight = state.flights[id] else { return nil }
      state.flights[id]!.answers += 1
      guard let answer = LoadQuestion.answer(flight.kind, flight.answers) else { return nil }
      // Of guardians who race, the first.
      if state.answersGiven[id] == nil { state.answersGiven[id] = Monotonic.now() }
      return BubbleAnswer(choice: answer.choice, reviewed: answer.reviewed)
    }
  }

  func notified(_ notice: Notice, on address: DeviceAddress) {
    guard case .decided(let id, let choice, _) = notice else { return }
    state.withLock { state in
      state.notebook.record(.decided(address, id, choice: choice.id), address.family)
      state.flights[id]?.shown += 1
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
