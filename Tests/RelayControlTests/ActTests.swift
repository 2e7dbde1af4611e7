import FamilyModel
import Foundation
import RelayClient
import SystemClock
import Testing

/// A guardian's commands and their effects.
@Suite struct ActTests {
  @Test(
    "R2, R3, K1, K5: an answer makes a handle known; a later answer reports the first decision",
    .timeLimit(.minutes(10)))
  func answer() async throws {
    try await RelayControlFixture.with { fixture in
      let (rosa, alex) = (fixture.file("Rosa"), fixture.file("Alex"))
      let id = try fixture.ask(Handle("dragonslayer42", .custom), given: "Ada")
      let phone = try fixture.ask(Handle("+1 (555) 010-0199", .phoneNumber))
      try await fixture.mustFail(
        "answer", id, "maybe", "--as", rosa, expecting: ["no choice 'maybe'", "approve, decline"])
      try await fixture.mustFail(
        "answer", "zzz", "approve", "--as", rosa,
        expecting: ["No question has the number 'zzz'", "Open questions: "])
      let said = try await fixture.must("answer", id.lowercased(), "approve", "--as", rosa)
      #expect(said.output.contains("with “Approve”") && said.output.contains("Ada"))
      try await fixture.mustFail(
        "answer", id, "decline", "--as", alex,
        expecting: ["problem 401: already answered", "Rosa chose “Approve”"])
      try await fixture.must("answer", String(phone.prefix(6)), "approve", "--as", alex)

      let known = try await fixture.must("known", "--as", rosa)
      #expect(known.words[1] == ["Emily", "+15550100199", "phone", "approved", "every", "app"])
      #expect(
        known.words[2] == ["Emily", "dragonslayer42", "custom", "approved", "example.landmarks"])
      let objects = try await fixture.must("known", "--child", "3", "--as", rosa, "--json").objects
      #expect(objects[0]["app"] is NSNull)
      #expect(objects[1]["app"] as? String == "example.landmarks")
      let history = try await fixture.must("history", "--as", rosa, "--json").conversation
      #expect(
        history.map { $0["kind"] as? String } == ["question", "question", "decision", "decision"])
      #expect(history.map { $0["by"] as? String } == ["Emily", "Emily", "Rosa", "Alex"])
      #expect(history[2]["choice"] as? String == "approve")
      let pending = try await fixture.must("pending", "--as", rosa, "--json")
      #expect(pending.objects.isEmpty)
    }
  }

  @Test("R8: an expired or cancelled question cannot be answered", .timeLimit(.minutes(10)))
  func tooLate() async throws {
    try await RelayControlFixture.with { fixture in
      // A busy machine may need seconds to submit the question.
      let soon = Instant.now + .seconds(10)
      let expired = try fixture.ask(Handle("a", .custom), expiration: soon)
      let uuid = UUID()
      let cancelled = try fixture.ask(Handle("b", .custom), id: uuid)
      var device = try DeviceClient(try fixture.credential("Emily"))
      try device.send(.cancel(ID128(uuid)))
      try await Task.sleep(for: .milliseconds(soon.milliseconds - Instant.now.milliseconds + 1))
      let rosa = fixture.file("Rosa")
      try await fixture.mustFail(
        "answer", expired, "approve", "--as", rosa, expecting: ["problem 402"])
      try await fixture.mustFail(
        "answer", cancelled, "approve", "--as", rosa, expecting: ["problem 403", "Emily cancelled"])
    }
  }

  @Test("F6: a guardian switches communication limits", .timeLimit(.minutes(10)))
  func limits() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let off = try await fixture.must("limits", "off", "--as", rosa)
      #expect(off.output == "Emily's communication limits are off.\n")
      let again = try await fixture.must("limits", "off", "--child", "Emily", "--as", rosa)
      #expect(again.output.contains("already off"))
      let settings = try await fixture.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["limits"] as? Bool == false)
      try await fixture.mustFail("limits", "maybe", "--as", rosa, expecting: ["on", "off"])
    }
  }

  @Test(
    "K1, R9: a guardian adds and removes contacts and withdraws approvals", .timeLimit(.minutes(10))
  )
  func contacts() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let add = ["contact", "add", "--kind", "email", "Ada@Example.org", "--as", rosa]
      #expect(try await fixture.run(add).output.contains("now on"))
      #expect(try await fixture.run(add).output.contains("already on"))
      #expect(
        try await fixture.must("known", "--as", rosa).words[1]
          == ["Emily", "ada@example.org", "email", "contact", "every", "app"])
      try await fixture.must(
        "contact", "remove", "--kind", "email", "ada@example.org", "--as", rosa)
      #expect(try await fixture.must("known", "--as", rosa).output == "No handle is known yet.\n")
      try await fixture.mustFail(
        "contact", "remove", "--kind", "phone", "+33", "--as", rosa,
        expecting: ["not on Emily's list", "No handle is known"])
      try await fixture.mustFail(
        "contact", "add", "--kind", "fax", "1", "--as", rosa,
        expecting: ["phone", "email", "custom"])
      try await fixture.mustFail(
        "contact", "add", "--kind", "custom", " ", "--as", rosa,
        expecting: ["problem 300: empty handle"])

      let id = try fixture.ask(Handle("tomas", .custom))
      try await fixture.must("answer", id, "approve", "--as", rosa)
      try await fixture.mustFail(
        "withdraw", "--kind", "custom", "tomas", "--app", "other.app", "--as", rosa,
        expecting: ["not known for Emily in other.app", "Known handles: tomas"])
      try await fixture.mustFail(
        "contact", "remove", "--kind", "custom", "tomas", "--as", rosa,
        expecting: ["relayctl withdraw"])
      try await fixture.must(
        "withdraw", "--kind", "custom", "tomas", "--app", "example.landmarks", "--as", rosa)
      #expect(try await fixture.must("known", "--as", rosa, "--json").objects.isEmpty)
      try await fixture.must("withdraw", "--consent", "example.landmarks", "--as", rosa)
      let last = try await fixture.must("history", "--limit", "2", "--as", rosa)
      #expect(last.output.contains("withdrew: tomas in example.landmarks"))
      #expect(last.output.contains("withdrew consent for example.landmarks"))
      for wrong in [
        ["--kind", "phone"], ["tomas"], [], ["--kind", "phone", "1", "--consent", "a"],
      ] {
        let outcome = try await fixture.run(["withdraw", "--as", rosa] + wrong)
        #expect(!outcome.isSuccess && outcome.error.contains("either --kind"))
      }
    }
  }

  @Test(
    "F4, F5: a guardian creates a child's account and sets its birthdate",
    .timeLimit(.minutes(10))
  )
  func accounts() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let said = try await fixture.must("add-child", "Luca", "--as", rosa)
      #expect(said.output.contains(#"{id: 4, name: "Luca", role: child}"#))
      try await fixture.mustFail(
        "add-child", "Luca", "--as", rosa, expecting: ["already has a member named 'Luca'"])
      try await fixture.must(
        "birthdate", "2016-02-29", "--child", "Luca", "--region", "FR", "--as", rosa)
      var luca = try await fixture.must("settings", "--as", rosa, "--json").objects[1]
      #expect(luca["birthdate"] as? String == "2016-02-29" && luca["limits"] as? Bool == true)
      try await fixture.must("birthdate", "2016-03-01", "--child", "luca", "--as", rosa)
      luca = try await fixture.must("settings", "--as", rosa, "--json").objects[1]
      #expect(luca["birthdate"] as? String == "2016-03-01" && luca["region"] as? String == "FR")
      for wrong in ["2015-02-29", "2014-5", "yesterday", "2199-01-01"] {
        try await fixture.mustFail(
          "birthdate", wrong, "--child", "Luca", "--as", rosa,
          expecting: [wrong == "2199-01-01" ? "future" : "2014-05-17"])
      }
      try await fixture.mustFail(
        "birthdate", "2016-03-01", "--child", "Luca", "--region", "France", "--as", rosa,
        expecting: ["FR"])
    }
  }

  @Test(
    "X2, M3: a message posted while the relay restarts is stored once", .timeLimit(.minutes(10)))
  func restart() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      await fixture.stopRelay()
      async let posted = fixture.must("post", "once", "--as", rosa)
      try await Task.sleep(for: .milliseconds(300))
      try await fixture.startRelay()
      _ = try await posted
      let lines = try await fixture.must("history", "--as", rosa, "--json").conversation
      #expect(lines.map { $0["text"] as? String } == ["once"])
    }
  }
}
