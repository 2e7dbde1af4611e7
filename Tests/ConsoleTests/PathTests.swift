import AgentTraces
import Foundation
import History
import Testing

@testable import ClusterConsole

/// The traces of one question from the app to the guardian and back, with times in microseconds.
private struct Story {
  let question = UUID()
  let asked = UUID()
  let decided = UUID()
  let refused = UUID()
  var index = TraceIndex(family: 1)

  mutating func say(_ process: String, _ line: String) throws {
    let text = "{\"family\":1,\(line)}"
    index.add(try JSONDecoder().decode(TraceLine.self, from: Data(text.utf8)), of: process)
  }

  mutating func ask() throws {
    try say("child", #""at":1,"mono":1100,"step":"ask","device":3,"question":"\#(question)""#)
    try say("child", #""at":1,"mono":1200,"step":"prompt","device":3,"question":"\#(question)""#)
    try say(
      "child",
      #""at":2,"mono":2001200,"step":"issued","device":3,"command":"\#(asked)","about":"\#(question)""#
    )
    try say(
      "relay",
      #""at":2,"mono":2001500,"step":"committed","device":3,"command":"\#(asked)","seq":9,"audience":4294967299,"kind":"asked","bytes":412"#
    )
    try say("rosa", #""at":2,"mono":2001900,"step":"bubble","device":1,"question":"\#(question)""#)
    try say("alex", #""at":2,"mono":2002000,"step":"bubble","device":2,"question":"\#(question)""#)
  }

  mutating func decide() throws {
    try say("rosa", #""at":3,"mono":5001900,"step":"answer","device":1,"question":"\#(question)""#)
    try say("rosa", #""at":3,"mono":5002000,"step":"issued","device":1,"command":"\#(decided)""#)
    try say(
      "relay",
      #""at":3,"mono":5002400,"step":"committed","device":1,"command":"\#(decided)","seq":10,"audience":4294967299,"kind":"decided","bytes":236"#
    )
    try say(
      "child", #""at":3,"mono":5002700,"step":"decided","device":3,"question":"\#(question)""#)
    try say("child", #""at":3,"mono":5003700,"step":"app-acknowledged","device":3"#)
  }

  func path(faults: [(process: String, fault: ProcessTable.Fault)] = []) -> QuestionPath {
    PathFinder(
      index: index, child: "child", guardians: ["rosa", "alex"],
      names: ["child": "Emily", "rosa": "Rosa", "alex": "Alex"], asked: [question: 1_000],
      faults: faults, now: (6_000_000, 6_000)
    ).path()
  }
}

@Suite struct PathTests {
  @Test("X4: no question has no path") func empty() {
    #expect(Story().path().hops == [])
    #expect(Story().path().lanes == ["app-agent", "child", "relay", "rosa", "alex"])
  }

  @Test("X4: each hop has its time, and people's time stands apart") func complete() throws {
    var story = Story()
    try story.ask()
    try story.decide()
    let path = story.path()
    #expect(path.hops.map(\.kind) == ["ask", "issue", "broadcast", "decide", "decision", "wake"])
    #expect(path.hops.map(\.took) == [0.2, 0.3, 0.4, 0.4, 0.3, 1])
    #expect(path.hops.map(\.state) == Array(repeating: "done", count: 6))
    #expect(path.hops.map(\.seq) == [nil, 9, 9, 10, 10, nil])
    #expect(path.hops[2].also == ["alex"])
    #expect(path.pauses.map(\.seconds) == [2, 3])
    #expect(path.pauses.map(\.who) == [["Emily"], ["Rosa"]])
    #expect(path.number == 9)
  }

  @Test("X4: an open question waits for all guardians") func waiting() throws {
    var story = Story()
    try story.ask()
    let path = story.path()
    #expect(path.hops.map(\.state) == ["done", "done", "done", "waiting", "waiting", "waiting"])
    #expect(path.pauses.last?.who == ["Rosa", "Alex"])
    #expect(path.pauses.last?.isWaiting == true)
  }

  @Test("X4: the second guardian's answer is a refused hop") func race() throws {
    var story = Story()
    try story.ask()
    try story.decide()
    try story.say(
      "alex", #""at":3,"mono":5002100,"step":"answer","device":2,"question":"\#(story.question)""#)
    try story.say(
      "alex", #""at":3,"mono":5002200,"step":"issued","device":2,"command":"\#(story.refused)""#)
    try story.say(
      "alex",
      #""at":3,"mono":5002900,"step":"refused-command","device":2,"command":"\#(story.refused)","problem":401"#
    )
    let answers = story.path().hops.filter { $0.kind == "decide" }
    #expect(answers.map(\.from) == ["rosa", "alex"])
    #expect(answers.map(\.state) == ["done", "refused"])
    #expect(answers.map(\.problem) == [nil, 401])
  }

  @Test("X4: a kill stands after the hop before it, and a hop that waited was sent again")
  func kill() throws {
    var story = Story()
    try story.ask()
    try story.decide()
    // Between the bubble and the commit of the decision, which was issued before the relay was back.
    let fault = ProcessTable.Fault(
      kind: "killed", at: 4_000, pid: 7, newPid: 8, back: 5_002)
    let path = story.path(faults: [("relay", fault)])
    #expect(path.faults.map(\.after) == [2])
    #expect(path.faults.map(\.seconds) == [1.002])
    #expect(path.hops.map(\.again) == [0, 0, 0, 0, 0, 0])
    let later = ProcessTable.Fault(kind: "killed", at: 5_002, pid: 7, newPid: 8, back: 5_003)
    #expect(story.path(faults: [("relay", later)]).hops.map(\.again) == [0, 0, 0, 0, 0, 1])
  }

  @Test("X4: a device that starts again shows a question again, and the path keeps the first time")
  func again() throws {
    var story = Story()
    try story.ask()
    try story.say(
      "rosa", #""at":9,"mono":9000000,"step":"bubble","device":1,"question":"\#(story.question)""#)
    #expect(story.path().hops[2].took == 0.4)
  }

  @Test("X4: an event that the relay did not trace is in the log as a device applied it")
  func untraced() throws {
    var story = Story()
    try story.say(
      "rosa",
      #""at":5,"mono":1,"step":"applied","device":1,"command":"\#(UUID())","seq":3,"audience":0"#)
    let devices = [(1, true), (2, true), (3, false)].map { person, isGuardian in
      LogReader.Holder(
        key: "1-\(person)", person: person, name: "P\(person)", isGuardian: isGuardian,
        isChild: !isGuardian)
    }
    let log = LogReader(
      index: story.index, devices: devices, positions: ["1-1": [0: 3], "1-2": [0: 2]]
    ).log()
    #expect(log.newest == 3)
    #expect(log.events.map(\.holders) == [["1-1", "1-2", "1-3"]])
    #expect(log.events.map(\.heldBy) == [["1-1"]])
    #expect(log.events.map(\.audience) == ["family"])
    let accounts: UInt64 = 2 << 32
    let seqs: [UInt64: UInt64] = [4: accounts | 1, 5: accounts | 3, 6: 1 << 32 | 3]
    for (seq, audience) in seqs {
      try story.say(
        "relay",
        #""at":5,"mono":1,"step":"committed","device":1,"command":"\#(UUID())","seq":\#(seq),"audience":\#(audience)"#
      )
    }
    let rows = LogReader(index: story.index, devices: devices, positions: [:]).log().events
    #expect(rows.map(\.holders.count) == [3, 3, 1, 3])
    #expect(
      rows.map(\.audience) == ["conversation · P3", "account · P3", "account · P1", "family"])
    #expect(rows.map(\.signer) == ["P1", "P1", "P1", nil])
  }

  @Test("X4: an acknowledged command without an event is lost after a time") func lost() throws {
    var story = Story()
    try story.say(
      "rosa", #""at":5,"step":"acknowledged","device":1,"command":"\#(UUID())","seq":3"#)
    #expect(story.index.lost(now: 10, after: 10) == 0)
    #expect(story.index.lost(now: 16, after: 10) == 1)
    try story.say(
      "alex", #""at":5,"step":"applied","device":2,"command":"\#(UUID())","seq":3,"audience":0"#)
    #expect(story.index.lost(now: 16, after: 10) == 0)
  }

  @Test("X4: two commands with one number are a violation") func conflict() throws {
    var story = Story()
    let line = #""at":5,"step":"applied","seq":3,"audience":0"#
    try story.say("rosa", line + #","device":1,"command":"\#(story.asked)""#)
    try story.say("alex", line + #","device":2,"command":"\#(story.asked)""#)
    #expect(story.index.conflicts.isEmpty)
    try story.say("child", line + #","device":3,"command":"\#(story.decided)""#)
    #expect(story.index.conflicts == [3])
    let verdicts = Verdicts(History(), conflicts: 1, lost: 0, waiting: 0, sentAgain: 0)
    #expect(verdicts.state == "violated")
    #expect(
      verdicts.checks.filter { $0.state == "violated" }.map(\.name) == ["one order for everybody"])
  }

  @Test("X4: the verdict waits for commands that are under way") func verdict() {
    let waiting = Verdicts(History(), conflicts: 0, lost: 0, waiting: 2, sentAgain: 0)
    #expect(waiting.state == "waiting")
    #expect(Verdicts(History(), conflicts: 0, lost: 0, waiting: 0, sentAgain: 0).state == "ok")
    #expect(
      Verdicts(History(), conflicts: 0, lost: 1, waiting: 0, sentAgain: 0).state == "violated")
  }
}
