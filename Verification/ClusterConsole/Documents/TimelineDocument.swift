import Foundation

/// Marks of the last minutes, one lane for each participant.
struct TimelineDocument: Encodable, Equatable, Sendable {
  /// An event or a fault.
  struct Mark: Encodable, Equatable, Sendable {
    var lane: Int
    /// Milliseconds since 1970.
    var at: Int64
    /// `question`, `answer`, `message`, `commit`, `handled`, `killed` or `paused`.
    var kind: String
    var until: Int64?
    var seq: UInt64?
  }
  /// The time that the timeline shows.
  static let shown: Int64 = 240_000
  /// The marks of one document.
  static let marks = 400

  var now: Int64
  var from: Int64
  var lanes: [String]
  var marks: [Mark]

  /// - Parameters:
  ///   - lanes: The processes with the names of their lanes, in order.
  init(
    _ index: TraceIndex, lanes: [(process: String, name: String)],
    faults: [(process: String, fault: ProcessTable.Fault)], now: Int64
  ) {
    let numbers = Dictionary(
      lanes.enumerated().map { ($1.process, $0) }, uniquingKeysWith: { first, _ in first })
    self.lanes = lanes.map(\.name)
    let begin = now - Self.shown
    var marks = index.issues.suffix(Self.marks).compactMap { issue -> Mark? in
      guard let lane = numbers[issue.process] else { return nil }
      let event = index.commits[issue.command]
      let other = event?.kind == "decided" ? "answer" : "message"
      return Mark(
        lane: lane, at: issue.at, kind: issue.question == nil ? other : "question",
        seq: event?.seq)
    }
    if let relay = numbers["relay"] {
      marks += index.events.values.map {
        Mark(lane: relay, at: $0.at, kind: "commit", seq: $0.seq)
      }
    }
    if let app = numbers["app-agent"] {
      marks += index.moments.filter { $0.name == "app-acknowledged" }
        .map { Mark(lane: app, at: $0.at, kind: "handled") }
    }
    marks += faults.compactMap { process, fault in
      guard let lane = numbers[process] else { return nil }
      return Mark(
        lane: lane, at: fault.at, kind: fault.kind == "paused" ? "paused" : "killed",
        until: fault.back)
    }
    self.marks = Array(
      marks.filter { ($0.until ?? $0.at) >= begin }.sorted { $0.at < $1.at }.suffix(Self.marks))
    // The document changes with its marks only; a page knows the present time itself.
    self.now = self.marks.last.map { max($0.at, $0.until ?? 0) } ?? 0
    from = self.now - Self.shown
  }
}
