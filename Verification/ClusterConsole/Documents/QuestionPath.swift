import Foundation

/// The way of the last question through the processes, with the time of each hop.
struct QuestionPath: Encodable, Equatable, Sendable {
  /// A message from one process to another.
  struct Hop: Encodable, Equatable, Sendable {
    /// `ask`, `issue`, `broadcast`, `decide`, `decision` or `wake`.
    var kind: String
    var from: String
    var to: String
    /// Further receivers.
    var also: [String] = []
    /// The number of the event.
    var seq: UInt64?
    /// Milliseconds; `nil` while the hop waits, or where the begin is not known.
    var took: Double?
    /// `done`, `waiting` or `refused`.
    var state = "waiting"
    /// The times that the message was sent again, as far as it is known.
    var again = 0
    var problem: UInt16?
  }
  /// The time of people between two hops.
  struct Pause: Encodable, Equatable, Sendable {
    /// The index of the hop before.
    var after: Int
    var who: [String]
    var seconds: Double
    var isWaiting: Bool
    /// When the wait began, in milliseconds since 1970; a page counts from there.
    var since: Int64?
  }
  /// A fault on the way.
  struct Fault: Encodable, Equatable, Sendable {
    /// The index of the hop before.
    var after: Int
    var process: String
    var kind: String
    var pid: pid_t
    var newPid: pid_t?
    var seconds: Double?
  }

  var question: String?
  var number: UInt64?
  var lanes: [String]
  /// The time of all complete hops in milliseconds.
  var machines: Double?
  /// The time of people in seconds.
  var people: Double?
  var hops: [Hop] = []
  var pauses: [Pause] = []
  var faults: [Fault] = []
}

/// Finds the way of a question in the traces.
struct PathFinder {
  var index: TraceIndex
  var child: String
  var guardians: [String]
  /// The names of people by their agents.
  var names: [String: String]
  var app = "app-agent"
  let relay = "relay"
  /// When the app's window asked and handled each question, on the machine's clock.
  var asked: [UUID: UInt64] = [:]
  var handled: [UUID: UInt64] = [:]
  var faults: [(process: String, fault: ProcessTable.Fault)] = []
  /// The present moment on the machine's clock and on the wall clock, in microseconds and
  /// milliseconds.
  var now: (mono: UInt64, at: Int64)

  private var lanes: [String] { [app, child, relay] + guardians }

  /// The way of the last question; without hops if nobody has asked.
  func path() -> QuestionPath {
    var path = QuestionPath(lanes: lanes)
    guard let question = index.lastQuestion else { return path }
    path.question = question.uuidString
    let shown = index.mono("prompt", of: question, in: child)
    path.hops.append(hop("ask", app, child, from: asked[question], to: shown))
    let issue = index.issues.first { $0.process == child && $0.question == question }
    pause(
      &path, [names[child] ?? child], from: shown, to: issue?.mono, isOver: isOver(question),
      since: index.at("prompt", of: question, in: [child]))
    let commit = issue.flatMap { index.commits[$0.command] }
    path.hops.append(hop("issue", child, relay, from: issue?.mono, to: commit?.mono))
    path.hops[1].seq = commit?.seq
    path.number = commit?.seq
    markRefused(&path.hops[1], issue?.command)
    let bubbles = arrivals("bubble", of: question)
    path.hops.append(broadcast("broadcast", commit, bubbles))
    addDecision(of: question, bubbles.first?.mono, &path)
    addFaults(&path, begin: asked[question] ?? shown)
    let times = path.hops.compactMap(\.took)
    path.machines = times.isEmpty ? nil : times.reduce(0, +)
    path.people = path.pauses.isEmpty ? nil : path.pauses.map(\.seconds).reduce(0, +)
    return path
  }

  /// The guardians' answers, and the way of the decision back to the app.
  private func addDecision(of question: UUID, _ bubble: UInt64?, _ path: inout QuestionPath) {
    let answers = guardians.compactMap { guardian -> (who: String, mono: UInt64)? in
      index.mono("answer", of: question, in: guardian).map { (guardian, $0) }
    }.sorted { $0.mono < $1.mono }
    let people = (answers.first.map { [$0.who] } ?? guardians).map { names[$0] ?? $0 }
    pause(
      &path, people, from: bubble, to: answers.first?.mono, isOver: isOver(question),
      since: index.at("bubble", of: question, in: guardians))
    var decision: TraceIndex.Commit?
    for answer in answers {
      let issue = index.issues.first {
        $0.process == answer.who && $0.mono >= answer.mono && $0.question == nil
      }
      let commit = issue.flatMap { index.commits[$0.command] }
      var hop = hop("decide", answer.who, relay, from: issue?.mono, to: commit?.mono)
      hop.seq = commit?.seq
      markRefused(&hop, issue?.command)
      if hop.state != "refused" { decision = decision ?? commit }
      path.hops.append(hop)
    }
    if answers.isEmpty { path.hops.append(hop("decide", guardians.first ?? relay, relay)) }
    let shown = index.mono("decided", of: question, in: child)
    var back = hop("decision", relay, child, from: decision?.mono, to: shown)
    back.seq = decision?.seq
    back.also = guardians.filter { index.mono("decided", of: question, in: $0) != nil }
    path.hops.append(back)
    let told =
      handled[question]
      ?? shown.flatMap { shown in
        index.moments.first {
          $0.process == child && $0.name == "app-acknowledged" && $0.mono >= shown
        }?.mono
      }
    path.hops.append(hop("wake", child, app, from: shown, to: told))
  }

  private func isOver(_ question: UUID) -> Bool {
    index.outcomes[question].map { $0 != "sent" } ?? false
  }

  // MARK: Parts

  private func hop(
    _ kind: String, _ from: String, _ to: String, from begin: UInt64? = nil, to end: UInt64? = nil
  ) -> QuestionPath.Hop {
    var hop = QuestionPath.Hop(kind: kind, from: from, to: to)
    if let end {
      hop.state = "done"
      hop.took = begin.map { end > $0 ? Double(end - $0) / 1_000 : 0 }
    }
    if let begin { hop.again = waits(from: begin, to: end) }
    return hop
  }

  /// The guardians who were shown the question, the first one first.
  private func arrivals(_ step: String, of question: UUID) -> [(who: String, mono: UInt64)] {
    guardians.compactMap { guardian in
      index.mono(step, of: question, in: guardian).map { (guardian, $0) }
    }.sorted { $0.mono < $1.mono }
  }

  private func broadcast(
    _ kind: String, _ commit: TraceIndex.Commit?, _ arrivals: [(who: String, mono: UInt64)]
  ) -> QuestionPath.Hop {
    var hop = hop(
      kind, relay, arrivals.first?.who ?? guardians.first ?? relay, from: commit?.mono,
      to: arrivals.first?.mono)
    hop.also = arrivals.dropFirst().map(\.who)
    hop.seq = commit?.seq
    return hop
  }

  private func markRefused(_ hop: inout QuestionPath.Hop, _ command: UUID?) {
    guard hop.state == "waiting", let command, let problem = index.refusals[command] else { return }
    hop.state = "refused"
    hop.problem = problem
  }

  private func pause(
    _ path: inout QuestionPath, _ who: [String], from begin: UInt64?, to end: UInt64?,
    isOver: Bool, since: Int64?
  ) {
    guard let begin, end != nil || !isOver else { return }
    // A waiting page counts the seconds itself, so that the document does not change each second.
    let until = end ?? begin
    path.pauses.append(
      .init(
        after: path.hops.count - 1, who: who,
        seconds: until > begin ? Double(until - begin) / 1_000_000 : 0, isWaiting: end == nil,
        since: since))
  }

  // MARK: Faults

  private func mono(_ at: Int64) -> UInt64 {
    let past = (now.at - at) * 1_000
    return past < Int64(now.mono) ? now.mono - UInt64(max(0, past)) : 0
  }

  /// The times that the relay came back while a message waited.
  private func waits(from begin: UInt64, to end: UInt64?) -> Int {
    faults.count { process, fault in
      guard process == relay, let back = fault.back else { return false }
      return begin < mono(back) && mono(back) < end ?? .max
    }
  }

  private func addFaults(_ path: inout QuestionPath, begin: UInt64?) {
    guard let begin else { return }
    for (process, fault) in faults where mono(fault.at) >= begin {
      let done = path.hops.lastIndex { $0.state == "done" } ?? 0
      let after = hopBefore(mono(fault.at), path) ?? done
      path.faults.append(
        .init(
          after: after, process: process, kind: fault.kind, pid: fault.pid, newPid: fault.newPid,
          seconds: fault.back.map { Double($0 - fault.at) / 1_000 }))
    }
  }

  /// The last hop that was complete at a moment.
  private func hopBefore(_ moment: UInt64, _ path: QuestionPath) -> Int? {
    guard let question = index.lastQuestion else { return nil }
    let ends: [UInt64?] =
      [
        index.mono("prompt", of: question, in: child),
        path.number.flatMap { index.events[$0]?.mono },
        arrivals("bubble", of: question).first?.mono,
      ]
      + path.hops.dropFirst(3).map { hop in
        hop.kind == "decide"
          ? hop.seq.flatMap { index.events[$0]?.mono }
          : index.mono("decided", of: question, in: child)
      }
    return ends.lastIndex { $0.map { $0 <= moment } ?? false }
  }
}
