import Foundation
import ProcessCluster
import Processes

/// The processes of the cluster as the page shows them.
struct ProcessTable {
  /// The last fault of a process.
  struct Fault: Encodable, Equatable, Sendable {
    /// `killed`, `ended` or `paused`.
    var kind: String
    /// Milliseconds since 1970.
    var at: Int64
    var pid: pid_t
    var newPid: pid_t?
    /// When the process was back, in milliseconds since 1970.
    var back: Int64?
    /// Commands that waited for the process to be back.
    var sentAgain = 0
  }

  /// One process.
  struct Row: Encodable, Equatable, Sendable {
    var name: String
    var kind: String
    var owner: String?
    var devices: [String]
    var pid: pid_t?
    var state: String
    /// The start, in milliseconds since 1970.
    var started: Int64?
    var restarts: Int
    var lastEnd: String?
    var isHeld: Bool
    /// Whether the connection to the relay is cut; `nil` for a process without one.
    var isCut: Bool?
    var fault: Fault?
  }

  private(set) var rows: [Row] = []
  /// All faults since the start, in order, by process.
  private(set) var faults: [(process: String, fault: Fault)] = []

  /// Records the present state of a process.
  ///
  /// - Parameter end: How the process before this one ended.
  mutating func update(_ row: Row, end: String?, now: Int64) {
    var row = row
    let old = rows.first { $0.name == row.name }
    row.fault = old?.fault
    let wasPaused = old?.state == "paused"
    if let old, let pid = old.pid, row.pid != pid, row.kind != "app-agent" {
      let kind = end?.hasPrefix("signal 9") == true ? "killed" : "ended"
      begin(Fault(kind: kind, at: now, pid: pid, newPid: row.pid), &row)
    } else if row.state == "paused", !wasPaused, let pid = row.pid {
      begin(Fault(kind: "paused", at: now, pid: pid), &row)
    }
    if var fault = row.fault, fault.back == nil, row.state == "up" {
      fault.newPid = fault.kind == "paused" ? nil : row.pid
      fault.back = now
      row.fault = fault
      if let index = faults.lastIndex(where: { $0.process == row.name }) {
        faults[index].fault = fault
      }
    }
    if let index = rows.firstIndex(where: { $0.name == row.name }) {
      rows[index] = row
    } else {
      rows.append(row)
    }
  }

  private mutating func begin(_ fault: Fault, _ row: inout Row) {
    row.fault = fault
    faults.append((row.name, fault))
  }

  /// Records how many commands waited for the process to be back.
  mutating func setSentAgain(_ count: Int, of name: String) {
    guard let index = rows.firstIndex(where: { $0.name == name }) else { return }
    rows[index].fault?.sentAgain = count
  }
}

extension SupervisedProcess {
  /// The state of the process: `up`, `paused`, `down` or `held`.
  func state(isHeld: Bool) -> String {
    guard let pid else { return isHeld ? "held" : "down" }
    return ProcessReading(pid)?.isStopped == true ? "paused" : "up"
  }

  /// How the last process ended: `signal 9` or `code 1`.
  var endText: String? {
    switch lastEnd?.status {
    case .exited(let code): "code \(code)"
    case .signaled(let signal): "signal \(signal)"
    default: nil
    }
  }
}
