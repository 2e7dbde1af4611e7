import FamilyModel
import Foundation
import RelayClient
import Testing

/// A guardian's view of the family.
@Suite struct InspectionTests {
  @Test("F2, F4: settings lists each child's defaults", .timeLimit(.minutes(10)))
  func settings() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = try await fixture.must("settings", "--as", fixture.file("Rosa"))
      #expect(
        rosa.words[1] == [
          "Emily", "on", "off", "2014-05-17", "US", "guardian", "not", "set", "ask",
        ])
      let wei = try await fixture.must(
        "settings", "--json", "--as", fixture.file("Wei", family: 4)
      ).objects
      #expect(wei.map { $0["child"] as? String } == ["莲", "Noah"])
      #expect(wei[0]["region"] as? String == "CN")
      #expect(wei[0]["birthdate"] is NSNull)
      #expect(wei[0]["limits"] as? Bool == true && wei[0]["passcode"] as? Bool == false)
      #expect(wei[0]["declaration"] as? String == "guardianDeclared")
    }
  }

  @Test(
    "M6, Q7: pending lists each question's child, app, people, choices and times",
    .timeLimit(.minutes(10)))
  func pending() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let none = try await fixture.must("pending", "--as", rosa)
      #expect(none.output == "No question is open.\n")
      let empty = try await fixture.must("pending", "--as", rosa, "--json")
      #expect(empty.output.filter { !$0.isWhitespace } == "[]")

      let end = Instant(milliseconds: 4_102_444_800_000)
      let id = try fixture.ask(Handle("dragonslayer42", .custom), given: "Ada", expiration: end)
      // An app may choose an expiration beyond the calendar.
      try fixture.ask(
        Handle("maria", .custom), expiration: Instant(milliseconds: Limits.times.upperBound))
      let table = try await fixture.must("pending", "--as", rosa)
      let row = table.words[1]
      #expect(UInt64(row[0]) != nil && row[1] == "Emily" && row[2] == "example.landmarks")
      #expect(table.output.contains("Ada (dragonslayer42)"))
      #expect(table.output.contains("approve, decline"))
      #expect(table.output.contains("2100-01-01 00:00:00"))

      let question = try await fixture.must("pending", "--as", rosa, "--json").objects[0]
      #expect(question["question"] as? String == id && "\(question["number"] ?? 0)" == row[0])
      #expect(question["expires"] as? String == "2100-01-01T00:00:00.000Z")
      let people = try #require(question["people"] as? [[String: String]])
      #expect(people == [["handle": "dragonslayer42", "kind": "custom", "name": "Ada"]])
      let choices = try #require(question["choices"] as? [[String: Any]])
      #expect(choices.map { $0["answer"] as? String } == ["approval", "denial"])
      let asked = try #require(question["asked"] as? String)
      #expect(
        abs(
          try Date(asked, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            .timeIntervalSinceNow) < 60)
    }
  }

  @Test("M6, X6: one number names a request in every command", .timeLimit(.minutes(10)))
  func number() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      try fixture.ask(Handle("ada", .custom))
      try fixture.ask(Handle("ben", .custom))
      let pending = try await fixture.must("pending", "--as", rosa).words
      let (ada, ben) = (pending[1][0], pending[2][0])
      #expect(ada != ben)
      let said = try await fixture.must("answer", ben, "approve", "--as", rosa).output
      #expect(said.hasPrefix("Answered #\(ben) with “Approve”: "))
      try await fixture.must("answer", "#\(ada)", "decline", "--as", rosa)
      let history = try await fixture.must("history", "--as", rosa, "--json").conversation
      #expect(history.map { "\($0["number"] ?? 0)" } == [ada, ben, ben, ada])
      let app = ["--app", "example.landmarks", "--as", rosa]
      for (handle, number) in [("ada", ada), ("ben", ben)] {
        let text = try await fixture.run(["explain", handle] + app).output
        #expect(text.contains("#\(number) · Rosa"))
        let json = try await fixture.run(["explain", handle, "--json"] + app).objects
        #expect("\(json[0]["number"] ?? 0)" == number)
      }
    }
  }

  @Test(
    "M1, M3: history shows all children, one child, or the newest lines", .timeLimit(.minutes(10)))
  func history() async throws {
    try await RelayControlFixture.with { fixture in
      let wei = fixture.file("Wei", family: 4)
      for (child, text) in [("莲", "one"), ("Noah", "two"), ("莲", "three")] {
        try await fixture.must("post", text, "--child", child, "--as", wei)
      }
      let all = try await fixture.must("history", "--as", wei, "--json").conversation
      #expect(all.map { $0["text"] as? String } == ["one", "two", "three"])
      #expect(all.map { $0["by"] as? String } == ["Wei", "Wei", "Wei"])
      let noah = try await fixture.must("history", "--child", "noah", "--as", wei)
      #expect(noah.words.last?.suffix(3) == ["Noah", "Wei", "two"])
      #expect(!noah.output.contains("莲") && !noah.output.contains("added"))
      let last = try await fixture.must("history", "--limit", "1", "--as", wei)
      #expect(last.words.count == 2 && last.words[1].last == "three")
      try await fixture.mustFail(
        "history", "--limit", "0", "--as", wei, expecting: ["--limit takes 1 or more", "'0'"])
    }
  }

  @Test("M1: history joins the pages of a long conversation", .timeLimit(.minutes(10)))
  func pages() async throws {
    try await RelayControlFixture.with { fixture in
      var device = try DeviceClient(try fixture.credential("Emily"))
      let count = Limits.pageEvents + 40
      for number in 1...count {
        try device.send(.post(child: device.credential.personID, .text("\(number)")))
      }
      let lines = try await fixture.must("history", "--as", fixture.file("Alex"), "--json")
        .conversation
      #expect(lines.map { $0["text"] as? String } == (1...count).map { "\($0)" })
      #expect(lines.allSatisfy { $0["by"] as? String == "Emily" })
    }
  }

  @Test("M6: a child's text cannot control the guardian's terminal", .timeLimit(.minutes(10)))
  func hostile() async throws {
    try await RelayControlFixture.with { fixture in
      var device = try DeviceClient(try fixture.credential("Emily"))
      let text = "\u{1B}[2J\u{9B}2J\u{7F}\u{1B}]0;owned\u{7}line\nliné"
      try device.send(.post(child: device.credential.personID, .text(text)))
      try fixture.ask(Handle("\u{1B}[31mred", .custom), app: "\u{1B}c")
      for arguments in [["history"], ["pending"], ["history", "--json"]] {
        let shown = try await fixture.run(arguments + ["--as", fixture.file("Rosa")])
        #expect(shown.isSuccess && !shown.output.contains(/[\u{1B}\u{7F}-\u{9F}]/))
      }
      let lines = try await fixture.must("history", "--as", fixture.file("Rosa"), "--json")
        .conversation
      #expect(lines[0]["text"] as? String == text)
    }
  }

  @Test(
    "K1, R1: rejects credentials that are readable by others or not a guardian's",
    .timeLimit(.minutes(10)))
  func credentials() async throws {
    try await RelayControlFixture.with { fixture in
      try await fixture.mustFail(
        "known", "--as", fixture.file("Emily"),
        expecting: ["belongs to Emily", "child", "guardian's"])
      try await fixture.mustFail(
        "known", "--as", fixture.file("Ines", family: 4), expecting: ["belongs to Ines", "adult"])
      try await fixture.mustFail(
        "known", "--as", "/nowhere.json", expecting: ["Cannot read /nowhere.json"])
      try await fixture.mustFail(
        "known", "--as", fixture.folder.path, expecting: ["is a folder", "a guardian's"])
      let open = fixture.file("Rosa")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
      try await fixture.mustFail("known", "--as", open, expecting: ["chmod 600"])
      let wei = fixture.file("Wei", family: 4)
      try await fixture.mustFail(
        "known", "--child", "Emily", "--as", wei, expecting: ["no child 'Emily'", "莲, Noah"])
      try await fixture.mustFail(
        "post", "hello", "--as", wei, expecting: ["2 children match", "--child: 莲, Noah"])
    }
  }
}
