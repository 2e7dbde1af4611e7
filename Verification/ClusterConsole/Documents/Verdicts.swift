import FamilyModel
import Foundation
import History

/// Whether the facts so far keep the promises.
struct Verdicts: Encodable, Equatable, Sendable {
  /// The verdict of a checker.
  struct Check: Encodable, Equatable, Sendable {
    var name: String
    /// `ok`, `violated` or `unknown`.
    var state: String
    var text: String
  }

  /// `ok`, `waiting`, `violated` or `unknown`.
  var state = "unknown"
  /// Commands and responses that are under way.
  var waiting = 0
  var checks: [Check] = []
  var lost = 0
  var twice = 0
  var sentAgain = 0

  /// Facts that are judged. A longer history would take too long after each change.
  static let facts = 100_000

  /// Judges a history.
  ///
  /// - Parameters:
  ///   - conflicts: Events for which two processes name different commands.
  ///   - lost: Acknowledged commands whose events are gone.
  ///   - waiting: Commands and responses that are under way.
  init(_ history: History, conflicts: Int, lost: Int, waiting: Int, sentAgain: Int) {
    self.lost = lost
    self.waiting = waiting
    self.sentAgain = sentAgain
    guard history.entries.count <= Self.facts else { return }
    // Further checkers need the stores at the end of a run.
    let checkers: [any Checker] = [NothingTwice(), OneDecision(), HandledOnce()]
    checks = history.verdicts(of: checkers).map { name, verdict in
      switch verdict {
      case .ok: Check(name: name, state: "ok", text: "")
      case .violated(let text, _): Check(name: name, state: "violated", text: text)
      case .unknown(let text): Check(name: name, state: "unknown", text: text)
      }
    }
    twice = checks.count { $0.state == "violated" }
    checks.append(
      Check(
        name: "one order for everybody", state: conflicts == 0 ? "ok" : "violated",
        text: conflicts == 0 ? "" : "\(conflicts) events differ between two processes"))
    checks.append(
      Check(
        name: "nothing acknowledged is lost", state: lost == 0 ? "ok" : "violated",
        text: lost == 0 ? "" : "\(lost) acknowledged commands are not in the log"))
    if checks.contains(where: { $0.state == "violated" }) {
      state = "violated"
    } else {
      state = waiting > 0 ? "waiting" : "ok"
    }
  }
}
