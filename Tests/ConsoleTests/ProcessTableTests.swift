import Foundation
import GatewayModel
import Testing

@testable import ClusterConsole

@Suite struct ProcessTableTests {
  private func row(_ pid: pid_t?, _ state: String, _ name: String = "relay") -> ProcessTable.Row {
    ProcessTable.Row(
      name: name, kind: "relay", owner: nil, devices: [], pid: pid, state: state, started: nil,
      restarts: 0, lastEnd: nil, isHeld: false, isCut: nil)
  }

  @Test("X4: a kill and the restart are one fault with both processes") func kill() {
    var table = ProcessTable()
    table.update(row(7, "up"), end: nil, now: 100)
    table.update(row(nil, "down"), end: "signal 9", now: 200)
    #expect(table.rows[0].fault == .init(kind: "killed", at: 200, pid: 7))
    table.update(row(8, "up"), end: "signal 9", now: 350)
    let fault = ProcessTable.Fault(kind: "killed", at: 200, pid: 7, newPid: 8, back: 350)
    #expect(table.rows[0].fault == fault)
    #expect(table.faults.map(\.fault) == [fault])
  }

  @Test("X4: a restart between two looks is a fault, too") func quick() {
    var table = ProcessTable()
    table.update(row(7, "up"), end: nil, now: 100)
    table.update(row(8, "up"), end: "code 1", now: 200)
    #expect(
      table.faults.map(\.fault) == [.init(kind: "ended", at: 200, pid: 7, newPid: 8, back: 200)])
  }

  @Test("X4: a pause ends with the same process") func pause() {
    var table = ProcessTable()
    table.update(row(7, "up"), end: nil, now: 100)
    table.update(row(7, "paused"), end: nil, now: 200)
    table.update(row(7, "paused"), end: nil, now: 300)
    table.update(row(7, "up"), end: nil, now: 400)
    #expect(table.faults.map(\.fault) == [.init(kind: "paused", at: 200, pid: 7, back: 400)])
  }

  @Test("X4: no birthdate reaches the page") func birthdates() throws {
    let text = #"{"name":"Rosa","children":[{"name":"Emily","birthdateText":"born 2014-05-17"}]}"#
    guard case .object(let screen) = try JSONValue.parse(Data(text.utf8)) else { return }
    let shown = String(decoding: ClusterConsole.withoutBirthdates(screen).data, as: UTF8.self)
    #expect(shown.contains("Emily"))
    #expect(!shown.contains("2014"))
  }
}
