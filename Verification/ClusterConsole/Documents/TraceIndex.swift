import AgentTraces
import Foundation

/// The traces of one family's processes, by question and command.
struct TraceIndex: Sendable {
  /// A process's step for a question.
  struct Step: Hashable, Sendable {
    var process: String
    var name: String
  }
  /// A command in the outbox of an agent.
  struct Issue: Sendable {
    var process: String
    var mono: UInt64
    var at: Int64
    var command: UUID
    /// The question that the command asks.
    var question: UUID?
  }
  /// A durable event.
  struct Commit: Sendable {
    var mono: UInt64
    var at: Int64
    var seq: UInt64
    /// The kind and the bytes; unknown for an event whose commit the relay did not trace.
    var kind: String?
    var bytes: Int?
    var device: UInt32?
    var audience: UInt64
    var command: UUID
  }
  /// A step of a process without a question.
  struct Moment: Sendable {
    var process: String
    var name: String
    var mono: UInt64
    var at: Int64
  }

  /// Steps that are kept for the way of the last response to an app.
  static let keptMoments = 256

  let family: UInt64
  /// When each step was first taken, on the machine's clock and on the wall clock.
  private(set) var steps: [UUID: [Step: (mono: UInt64, at: Int64)]] = [:]
  private(set) var issues: [Issue] = []
  private(set) var commits: [UUID: Commit] = [:]
  /// The events by number.
  private(set) var events: [UInt64: Commit] = [:]
  private(set) var refusals: [UUID: UInt16] = [:]
  /// Commands that their senders know to be accepted, with the number of the event.
  private(set) var acknowledged: [UUID: (seq: UInt64, at: Int64)] = [:]
  private(set) var moments: [Moment] = []
  /// Events for which two processes have named different commands.
  private(set) var conflicts: Set<UInt64> = []
  /// The question that a person asked last.
  private(set) var lastQuestion: UUID?
  /// The outcome of asking each question.
  private(set) var outcomes: [UUID: String] = [:]

  init(family: UInt64) { self.family = family }

  /// Adds a line of a process's trace.
  mutating func add(_ line: TraceLine, of process: String) {
    guard line.family == family else { return }
    let mono = line.mono ?? UInt64(max(0, line.at)) * 1_000
    if let question = line.question { add(line, question, mono, process) }
    switch line.step {
    case "issued":
      guard let command = line.command else { return }
      issues.append(
        Issue(
          process: process, mono: mono, at: line.at, command: command, question: line.about))
    case "committed", "applied": addEvent(line, mono)
    case "acknowledged":
      if let command = line.command, let seq = line.seq {
        acknowledged[command] = (seq, line.at)
      }
    case "refused-command":
      if let command = line.command { refusals[command] = line.problem }
    case "launch", "app-attached", "app-acknowledged":
      moments.append(Moment(process: process, name: line.step, mono: mono, at: line.at))
      if moments.count > Self.keptMoments { moments.removeFirst() }
    default: break
    }
  }

  private mutating func add(
    _ line: TraceLine, _ question: UUID, _ mono: UInt64, _ process: String
  ) {
    if ["ask", "prompt"].contains(line.step), steps[question] == nil { lastQuestion = question }
    // A device that starts again shows its open prompts and bubbles again.
    let step = Step(process: process, name: line.step)
    if steps[question]?[step] == nil {
      steps[question, default: [:]][step] = (mono, line.at)
    }
    if line.step == "asked" { outcomes[question] = line.outcome }
  }

  /// A relay that is killed between a commit and its line has still committed: a device that applied
  /// the event proves it.
  private mutating func addEvent(_ line: TraceLine, _ mono: UInt64) {
    guard let seq = line.seq, let audience = line.audience, let command = line.command else {
      return
    }
    if let known = events[seq], known.command != command { conflicts.insert(seq) }
    guard line.step == "committed" || events[seq] == nil else { return }
    let commit = Commit(
      mono: mono, at: line.at, seq: seq, kind: line.kind, bytes: line.bytes,
      device: line.step == "committed" ? line.device : nil, audience: audience, command: command)
    events[seq] = commit
    commits[command] = commit
  }

  /// When the process first took a step of the question.
  func mono(_ name: String, of question: UUID, in process: String) -> UInt64? {
    steps[question]?[Step(process: process, name: name)]?.mono
  }

  /// When a process first took a step of the question, in milliseconds since 1970: the first one of
  /// these processes.
  func at(_ name: String, of question: UUID, in processes: [String]) -> Int64? {
    processes.compactMap { steps[question]?[Step(process: $0, name: name)]?.at }.min()
  }

  /// Acknowledged commands whose event neither the relay nor a device has shown, although a time has
  /// passed.
  func lost(now: Int64, after patience: Int64) -> Int {
    acknowledged.values.count { events[$0.seq] == nil && $0.at + patience < now }
  }

  /// Commands that were issued before a process was back from a fault, and committed afterwards.
  func sentAgain(after fault: ProcessTable.Fault, of process: String) -> Int {
    guard let back = fault.back else { return 0 }
    return issues.count { issue in
      guard process == "relay" || issue.process == process, issue.at <= back,
        let event = commits[issue.command]
      else { return false }
      return event.at >= back
    }
  }
}
