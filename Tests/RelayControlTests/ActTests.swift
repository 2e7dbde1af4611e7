import FamilyModel
import Foundation
import RelayClient
import SystemClock
import Testing

/// What a guardian does, and what comes of it.
@Suite struct ActTests {
  @Test(
    "R2, R3, K1, K5: an answer makes a handle known, and a second answer hears who was first",
    .timeLimit(.minutes(10)))
  func answer() async throws {
    try await RelayControlFixture.with { home in
      let (rosa, alex) = (home.file("Rosa"), home.file("Alex"))
      let id = try home.ask(Handle("dragonslayer42", .custom), given: "Ada")
      let phone = try home.ask(Handle("+1 (555) 010-0199", .phoneNumber))
      try await home.mustFail(
        "answer", id, "maybe", "--as", rosa, saying: ["no choice 'maybe'", "approve, decline"])
      try await home.mustFail(
        "answer", "zzz", "approve", "--as", rosa,
        saying: ["No question begins with 'zzz'", String(id.prefix(8)), String(phone.prefix(8))])
      let said = try await home.must("answer", id.lowercased(), "approve", "--as", rosa)
      #expect(said.output.contains("Answered “Approve”") && said.output.contains("Ada"))
      try await home.mustFail(
        "answer", id, "decline", "--as", alex,
        saying: ["problem 401: already answered", "Rosa chose “Approve”"])
      try await home.must("answer", String(phone.prefix(6)), "approve", "--as", alex)

      let known = try await home.must("known", "--as", rosa)
      #expect(known.words[1] == ["Emily", "+15550100199", "phone", "approved", "every", "app"])
      #expect(
        known.words[2] == ["Emily", "dragonslayer42", "custom", "approved", "example.landmarks"])
      let objects = try await home.must("known", "--child", "3", "--as", rosa, "--json").objects
      #expect(objects[0]["app"] is NSNull)
      #expect(objects[1]["app"] as? String == "example.landmarks")
      let history = try await home.must("history", "--as", rosa, "--json").objects
      #expect(
        history.map { $0["kind"] as? String } == ["question", "question", "decision", "decision"])
      #expect(history.map { $0["by"] as? String } == ["Emily", "Emily", "Rosa", "Alex"])
      #expect(history[2]["choice"] as? String == "approve")
      let pending = try await home.must("pending", "--as", rosa, "--json")
      #expect(pending.objects.isEmpty)
    }
  }

  @Test("R8: what is expired or taken back cannot be answered", .timeLimit(.minutes(10)))
  func tooLate() async throws {
    try await RelayControlFixture.with { home in
      // A busy machine may take seconds until it is asked.
      let soon = Instant.now + 10_000
      let expired = try home.ask(Handle("a", .custom), expiration: soon)
      let uuid = UUID()
      let cancelled = try home.ask(Handle("b", .custom), id: uuid)
      var device = try DeviceClient(try home.credential("Emily"))
      try device.send(.cancel(ID128(bytes: withUnsafeBytes(of: uuid.uuid) { Array($0) })!))
      try await Task.sleep(for: .milliseconds(soon.milliseconds - Instant.now.milliseconds + 1))
      let rosa = home.file("Rosa")
      try await home.mustFail("answer", expired, "approve", "--as", rosa, saying: ["problem 402"])
      try await home.mustFail(
        "answer", cancelled, "approve", "--as", rosa, saying: ["problem 403", "Emily cancelled"])
    }
  }

  @Test("F6: limits are switched by a guardian", .timeLimit(.minutes(10)))
  func limits() async throws {
    try await RelayControlFixture.with { home in
      let rosa = home.file("Rosa")
      let off = try await home.must("limits", "off", "--as", rosa)
      #expect(off.output == "Emily's communication limits are off.\n")
      let again = try await home.must("limits", "off", "--child", "Emily", "--as", rosa)
      #expect(again.output.contains("already off"))
      let settings = try await home.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["limits"] as? Bool == false)
      #expect(throws: Problem.limitsOff) { try home.ask(Handle("x", .custom)) }
      try await home.mustFail("limits", "maybe", "--as", rosa, saying: ["on", "off"])
    }
  }

  @Test(
    "K1, R9: contacts are put on the list and off it; approvals withdrawn", .timeLimit(.minutes(10))
  )
  func contacts() async throws {
    try await RelayControlFixture.with { home in
      let rosa = home.file("Rosa")
      let add = ["contact", "add", "--kind", "email", "Ada@Example.org", "--as", rosa]
      #expect(try await home.run(add).output.contains("now on"))
      #expect(try await home.run(add).output.contains("already on"))
      #expect(
        try await home.must("known", "--as", rosa).words[1]
          == ["Emily", "ada@example.org", "email", "contact", "every", "app"])
      try await home.must("contact", "remove", "--kind", "email", "ada@example.org", "--as", rosa)
      #expect(try await home.must("known", "--as", rosa).output == "No handle is known yet.\n")
      try await home.mustFail(
        "contact", "remove", "--kind", "phone", "+33", "--as", rosa,
        saying: ["not on Emily's list", "No handle is known"])
      try await home.mustFail(
        "contact", "add", "--kind", "fax", "1", "--as", rosa, saying: ["phone", "email", "custom"])
      try await home.mustFail(
        "contact", "add", "--kind", "custom", " ", "--as", rosa,
        saying: ["problem 300: empty handle"])

      let id = try home.ask(Handle("tomas", .custom))
      try await home.must("answer", id, "approve", "--as", rosa)
      try await home.mustFail(
        "withdraw", "--kind", "custom", "tomas", "--app", "other.app", "--as", rosa,
        saying: ["not known for Emily in other.app", "Known handles: tomas"])
      try await home.mustFail(
        "contact", "remove", "--kind", "custom", "tomas", "--as", rosa,
        saying: ["relayctl withdraw"])
      try await home.must(
        "withdraw", "--kind", "custom", "tomas", "--app", "example.landmarks", "--as", rosa)
      #expect(try await home.must("known", "--as", rosa, "--json").objects.isEmpty)
      try await home.must("withdraw", "--consent", "example.landmarks", "--as", rosa)
      let last = try await home.must("history", "--limit", "2", "--as", rosa)
      #expect(last.output.contains("withdrew: tomas in example.landmarks"))
      #expect(last.output.contains("withdrew consent for example.landmarks"))
      for wrong in [
        ["--kind", "phone"], ["tomas"], [], ["--kind", "phone", "1", "--consent", "a"],
      ] {
        let outcome = try await home.run(["withdraw", "--as", rosa] + wrong)
        #expect(!outcome.isSuccess && outcome.error.contains("either --kind"))
      }
    }
  }

  @Test(
    "F4, F5: a child's account, and its birthdate, are a guardian's matter",
    .timeLimit(.minutes(10))
  )
  func accounts() async throws {
    try await RelayControlFixture.with { home in
      let rosa = home.file("Rosa")
      let said = try await home.must("add-child", "Luca", "--as", rosa)
      #expect(said.output.contains(#"{id: 4, name: "Luca", role: child}"#))
      try await home.mustFail(
        "add-child", "Luca", "--as", rosa, saying: ["already has a member named 'Luca'"])
      try await home.must(
        "birthdate", "2016-02-29", "--child", "Luca", "--region", "FR", "--as", rosa)
      var luca = try await home.must("settings", "--as", rosa, "--json").objects[1]
      #expect(luca["birthdate"] as? String == "2016-02-29" && luca["limits"] as? Bool == true)
      try await home.must("birthdate", "2016-03-01", "--child", "luca", "--as", rosa)
      luca = try await home.must("settings", "--as", rosa, "--json").objects[1]
      #expect(luca["birthdate"] as? String == "2016-03-01" && luca["region"] as? String == "FR")
      for wrong in ["2015-02-29", "2014-5", "yesterday", "2199-01-01"] {
        try await home.mustFail(
          "birthdate", wrong, "--child", "Luca", "--as", rosa,
          saying: [wrong == "2199-01-01" ? "future" : "2014-05-17"])
      }
      try await home.mustFail(
        "birthdate", "2016-03-01", "--child", "Luca", "--region", "France", "--as", rosa,
        saying: ["FR"])
    }
  }

  @Test("X2, M3: a message sent while the relay starts arrives once", .timeLimit(.minutes(10)))
  func restart() async throws {
    try await RelayControlFixture.with { home in
      let rosa = home.file("Rosa")
      await home.stopRelay()
      async let posted = home.must("post", "once", "--as", rosa)
      try await Task.sleep(for: .milliseconds(300))
      home.startRelay()
      _ = try await posted
      let lines = try await home.must("history", "--as", rosa, "--json").objects
      #expect(lines.map { $0["text"] as? String } == ["once"])
    }
  }
}
