import AppClient
import FamilyCore
import FamilyModel
import Synchronization

extension TestFamily {
  /// The app's code waits for a response that cannot arrive, unless the test acts.
  public struct Stalled: Error, CustomStringConvertible {
    /// The reason, and the call that the test lacks.
    public let description: String
  }

  /// Waits until loops over `updates` or `responses(for:)` are open in the running process.
  ///
  /// - Parameter count: The number of open loops to wait for.
  /// - Throws: ``Stalled`` after ten seconds of real time.
  public func untilListening(loops count: Int = 1) async throws {
    let end = ContinuousClock.now + Self.patience
    while openLoops < count || !isListening {
      guard ContinuousClock.now < end else {
        throw Stalled(description: "The app has \(openLoops) open loops, and not \(count).")
      }
      await Task.yield()
    }
  }

  /// The number of responses that the app has not handled.
  public var unhandled: Int {
    perform { family in
      family.records.count {
        if case .entry(_, let entry) = $0, case .response = entry.body { true } else { false }
      }
    }
  }

  /// Why no response arrives, and which call would change that.
  var stallReason: String {
    let facts = perform { family in
      (
        family.guardians.keys.sorted().map { ($0, family.plans[$0]) },
        family.guardians.values.first?.open(now: family.now).map(\.question) ?? [],
        family.plannedAnswers.map { ($0.device, $0.at.milliseconds - family.now.milliseconds) },
        !family.isOnline
      )
    }
    let (plans, open, planned, isOffline) = facts
    let start = "The app waits for a response, and nothing happens. "
    if isOffline { return start + "The child's device is offline: call child.setOnline(true)." }
    guard let question = open.first else {
      return start
        + "No question is open: the app has asked none, or each is answered or cancelled."
    }
    let reasons = plans.map { device, plan in
      reason(planned.first { $0.0 == device }?.1, plan, name(of: device), question)
    }
    return start + "Open questions: \(open.count). " + reasons.joined(separator: " ")
  }

  private func reason(
    _ delay: Int64?, _ plan: InMemoryFamily.Plan?, _ name: String, _ question: Question
  ) -> String {
    if let delay {
      return
        "\(name) answers in \(Double(delay) / 1_000) s of the family's clock: call advance(by:)."
    }
    if case .guardian(let answer, _) = plan, case .choose(let id) = answer.kind,
      answer.choice(in: question) == nil
    {
      let choices = question.choices.map(\.id).joined(separator: ", ")
      return "\(name) chooses “\(id)”, and the question has the choices \(choices)."
    }
    return "\(name) has no answer to it: call guardian(“\(name)”).will(_:) before the app asks, "
      + "or answer(_:)."
  }
}

/// Ends the loops of an app's process whose own task waits for a response while nothing happens.
final class StallWatch: Sendable {
  private static let interval = Duration.milliseconds(50)
  private let found = Mutex<TestFamily.Stalled?>(nil)
  private let watch = Mutex<Task<Void, Never>?>(nil)

  /// The reason, after the watch has ended a loop.
  var stalled: TestFamily.Stalled? { found.withLock { $0 } }

  /// Watches the calling task.
  init(_ family: TestFamily, _ session: AppSession) {
    // A launched app may wait for ever: its device ends it.
    guard let task = withUnsafeCurrentTask(body: { $0?.hashValue }), !family.isBackground else {
      return
    }
    let watching = Task.detached { [weak self] in
      // A busy machine delays the watch as much as the app: the watch counts its own sleeps.
      var quiet: (activity: UInt64, time: Duration)?
      while (try? await Task.sleep(for: Self.interval)) != nil {
        let activity = family.activity.withLock { $0 }
        guard session.isWaiting(task) else {
          quiet = nil
          continue
        }
        let time = quiet?.activity == activity ? quiet!.time + Self.interval : .zero
        quiet = (activity, time)
        guard time >= family.stallTime else { continue }
        let stalled = TestFamily.Stalled(description: family.stallReason)
        self?.found.withLock { $0 = stalled }
        session.endLoops()
        quiet = nil
      }
    }
    watch.withLock { $0 = watching }
  }

  func end() { watch.withLock { $0?.cancel() } }
}
