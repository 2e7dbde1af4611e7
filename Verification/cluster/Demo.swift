import ArgumentParser
import Foundation
import ProcessCluster

extension Cluster {
  /// Shows approvals of three families through real processes, as a transcript that checks itself.
  struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Demonstrate approvals through real processes. Fails if a step does not have the printed effect."
    )
    @OptionGroup var options: ClusterOptions

    func run() async throws {
      let layout = Layout(options.directory)
      try layout.clear()
      var families = ClusterFamilies.example(2)
      families.families.append(ClusterFamilies.ages(3))
      var configuration = RunningCluster.Configuration()
      let worker = layout.agent(Transcript.worker).path
      let hashes = layout.scripts.appendingPathComponent("hashes.txt")
      configuration.agentArguments = ["--content-worker", worker]
      configuration.extraProcesses = [
        .init(
          name: Transcript.worker, program: Layout.program(Transcript.worker),
          arguments: ["--directory", worker, "--hashes", hashes.path])
      ]
      configuration.prepareAgents = {
        try Data("\(Transcript.listedHash)\n".utf8).write(to: hashes)
      }
      let cluster = try RunningCluster(layout, families, configuration)
      // The worker starts in a later step.
      cluster.agent(Transcript.worker).holdRestart()
      try await cluster.stopping { try await Transcript(cluster: cluster).play() }
      print("\nAll steps succeeded.")
    }
  }
}

/// The demonstration. Each step is announced, performed and checked.
struct Transcript {
  let cluster: RunningCluster
  var layout: Layout { cluster.layout }

  func play() async throws {
    title("Rosa and Alex are Emily's guardians, Wei and Alex are Lian's, Sam is Olivia's")
    try await cluster.start { say($0) }
    say("one relay and \(cluster.agents.count) agents run, each as a process")
    try await hiddenUntilKnown()
    try await approved()
    try await declined()
    try await custom()
    try await relayDiesBeforeTheAnswer()
    try await relayDiesBeforeTheApp()
    try await inPerson()
    try await withdrawn()
    try await ended()
    try await update()
    try await consent()
    try await ages()
    try await web()
    try await managed()
    try await pictures()
    try finalTable()
  }

  private func hiddenUntilKnown() async throws {
    title("1. Landmarks hides chats with people whom no guardian has approved")
    try await show(1, "Emily", known: [])
    try await check(!replies(1, "Ada", "Hello"), "Emily cannot reply in a hidden chat")
  }

  private func approved() async throws {
    title("2. Emily asks, her mother approves, and the app is not running")
    try script(1, "rosa", [["handle": "dragonslayer42", "choose": "approve", "review": true]])
    let id = try await ask(1, "Emily", "dragonslayer42", name: "Ada")
    try await decision(1, id, "approve", by: "Rosa")
    try await knows(1, ["dragonslayer42"])
    try await show(1, "Emily", known: ["dragonslayer42"])
    try await check(replies(1, "Ada", "Not yet!"), "Emily replies in the open chat")
  }

  private func declined() async throws {
    title("3. Lian asks, and his mother declines from the bubble")
    try script(2, "wei", [["handle": "dragonslayer42", "choose": "decline"]])
    let id = try await ask(2, "Lian", "dragonslayer42", name: "Ada")
    try await decision(2, id, "decline", by: "Wei")
    try await show(2, "Lian", known: [])
  }

  private func custom() async throws {
    title("4. Emily asks with the app's own choices: one hour, all day, always")
    try script(1, "rosa", [["handle": "+15550100", "choose": "day", "review": true]])
    let id = try await ask(
      1, "Emily", "+15550100", kind: "phone", name: "Grandpa",
      choices: "hour=One hour:approve,day=All day:approve,always=Always:approve,no=No:decline")
    try await decision(1, id, "day", by: "Rosa")
    try await knows(1, ["+15550100", "dragonslayer42"])
  }

  private func relayDiesBeforeTheAnswer() async throws {
    title("5. The relay is killed between the question and the answer")
    let gate = layout.scripts.appendingPathComponent("gate-5")
    try script(
      1, "rosa", [["handle": "maria", "choose": "approve", "review": true, "after": "gate-5"]])
    let id = try await ask(1, "Emily", "maria", name: "Maria")
    try await until("Rosa sees the bubble") { question(id, of: "Rosa", in: 1)?.state == "open" }
    try await killRelay()
    try Data().write(to: gate)
    say("Rosa approves while the relay is down or restarting")
    try await decision(1, id, "approve", by: "Rosa")
    try await knows(1, ["+15550100", "dragonslayer42", "maria"])
  }

  private func relayDiesBeforeTheApp() async throws {
    title("6. The relay is killed between the answer and the app")
    let child = cluster.agent("child-agent-1")
    let gate = layout.scripts.appendingPathComponent("gate-6")
    try script(
      1, "rosa", [["handle": "tomas", "choose": "approve", "review": true, "after": "gate-6"]])
    let id = try await ask(1, "Emily", "tomas", name: "Tomás")
    try await until("Rosa sees the bubble") { question(id, of: "Rosa", in: 1)?.state == "open" }
    child.signal(SIGSTOP)
    say("Emily's device is stopped (SIGSTOP)")
    try Data().write(to: gate)
    try await until("Rosa's decision is durable") {
      question(id, of: "Rosa", in: 1)?.state == "approve"
    }
    say("Rosa approved, and the relay has stored the decision")
    try await killRelay()
    child.signal(SIGCONT)
    say("Emily's device resumes (SIGCONT)")
    try await decision(1, id, "approve", by: "Rosa")
    try await knows(1, ["+15550100", "dragonslayer42", "maria", "tomas"])
    try await show(1, "Emily", known: ["dragonslayer42", "maria"])
  }

  private func inPerson() async throws {
    title("7. Rosa approves in person: on Emily's device, with the family's passcode")
    let rosa = layout.credential(1, "Rosa").path
    let reply = try await cluster.relayctl("passcode", "--as", rosa, typing: "258013\n")
    say("relayctl passcode: \(reply.trimmingCharacters(in: .newlines))")
    try script(
      "child-agent-1", [["handle": "sofia", "permission": "inPerson", "passcode": "258013"]])
    try script(1, "rosa", [])
    let id = try await ask(
      1, "Emily", "sofia", name: "Sofia", how: "and her mother types the passcode")
    try await decision(1, id, "approve", by: "Emily", inPerson: true)
    try await knows(1, ["+15550100", "dragonslayer42", "maria", "sofia", "tomas"])
  }

  private func withdrawn() async throws {
    title("8. Rosa withdraws an approval, and Landmarks hides the chat")
    try await rosa(
      "withdraw", "--child", "Emily", "--kind", "custom", "maria", "--app", RunningCluster.app)
    try await knows(1, ["+15550100", "dragonslayer42", "sofia", "tomas"])
    try await show(1, "Emily", known: ["dragonslayer42"])
    for (handle, reason) in [
      ("maria", "Rosa withdrew permission"), ("dragonslayer42", "Rosa approved it"),
      ("5550100", "“+15550100” is known; it is a different contact"),
    ] {
      let text = try await cluster.relayctl(
        "explain", handle, "--child", "Emily", "--app", RunningCluster.app, "--as",
        layout.credential(1, "Rosa").path)
      try check(text.contains(reason), "relayctl explain \(handle): \(reason)")
    }
  }

  private func ended() async throws {
    title("9. Rosa approves for twenty seconds, and the approval ends without a withdrawal")
    try script(1, "rosa", [["handle": "maria", "choose": "moment", "review": true]])
    let id = try await ask(
      1, "Emily", "maria", name: "Maria",
      choices: "moment=For a moment:approve:20,no=No:decline")
    try await knows(1, ["+15550100", "dragonslayer42", "maria", "sofia", "tomas"])
    let list = try await cluster.relayctl("known", "--as", layout.credential(1, "Rosa").path)
    for line in list.split(separator: "\n") where line.contains("maria") { say("\(line)") }
    try await decision(1, id, "moment", by: "Rosa")
    try await killChildAgent()
    try await knows(1, ["+15550100", "dragonslayer42", "sofia", "tomas"])
    try await show(1, "Emily", known: ["dragonslayer42"])
  }

  private func update() async throws {
    title("10. Landmarks asks for consent to an update, also while communication limits are off")
    let rosa = layout.credential(1, "Rosa").path
    try await cluster.relayctl("limits", "off", "--child", "Emily", "--as", rosa)
    async let decision = landmarks(1, ["update"])
    try await answer("update: ", "approve")
    try await check(decision == "consent: approve\n", "Landmarks has the guardians' consent")
    try await cluster.relayctl("limits", "on", "--child", "Emily", "--as", rosa)
  }

  private func consent() async throws {
    title("11. Rosa withdraws the consent to Landmarks, and gives the consent back")
    let rosa = layout.credential(1, "Rosa").path
    try await self.rosa("withdraw", "--consent", RunningCluster.app, "--child", "Emily")
    try await killChildAgent()
    try await show(1, "Emily", known: [])
    try await check(refuses("olga"), "Landmarks cannot ask: problem 414")
    try await killChildAgent()
    try await check(refuses("olga"), "nor after kill -9 of Emily's device")
    try await until("Landmarks has acknowledged the withdrawal") {
      Status.all(layout).first { $0.family == 1 && $0.role == "child" }?.unacknowledged == 0
    }
    let launches = try launches(1)
    try await cluster.relayctl(
      "contact", "add", "--kind", "custom", "olga", "--child", "Emily", "--as", rosa)
    try await knows(1, ["+15550100", "dragonslayer42", "olga", "sofia", "tomas"])
    try check(launches == self.launches(1), "a new contact does not launch Landmarks")
    try await self.rosa("consent", RunningCluster.app, "--child", "Emily")
    try await until("Landmarks is launched again") { try self.launches(1) > launches }
    try await show(1, "Emily", known: ["dragonslayer42"])
  }

  /// Whether Landmarks' question about the handle fails because the consent is withdrawn.
  private func refuses(_ handle: String) async -> Bool {
    do {
      _ = try await landmarks(1, ["ask", "--handle", handle])
      return false
    } catch { return "\(error)".contains("problem 414") }
  }

  private func ages() async throws {
    title("12. Landmarks asks for the age range and shares photos from age 16")
    // Each member's device and the range that the app receives.
    for (name, device, range, isOn) in [
      ("Olivia", 2, "13 to 15, guardianDeclared", false),
      ("Emily", 3, "up to 12, guardianDeclared", false),
      ("Ann", 4, "16 or older, selfDeclared", true),
    ] {
      for time in ["accepts the prompt", "is not prompted again"] {
        let output = try await landmarks(3, ["photos"], device: device)
        try check(
          output == "age range \(range)\nphoto sharing is \(isOn ? "on" : "off")\n",
          "\(name) \(time): \(range), photo sharing is \(isOn ? "on" : "off")")
      }
    }
    let prompts = try String(contentsOf: layout.log("child-agent-3"), encoding: .utf8)
      .split(separator: "\n").count { $0.contains("age-prompt") }
    try check(prompts == 3, "there were three prompts, one for each person")
    let guardian = layout.credential(3, "Sam").path
    let line = try await cluster.relayctl(
      "sandbox", "teen-16-payment", "--child", "Olivia", "--as", guardian)
    say("relayctl sandbox teen-16-payment --child Olivia --as …")
    say("→ " + line.trimmingCharacters(in: .newlines))
    try await until("Olivia's photo sharing is on") {
      try await landmarks(3, ["photos"], device: 2).hasSuffix("photo sharing is on\n")
    }
    let apps = try await cluster.relayctl("apps", "--as", guardian)
    say("relayctl apps --as …")
    for line in apps.split(separator: "\n") { say(String(line)) }
    try check(
      ["Olivia", "Emily", "Landmarks", "9+"].allSatisfy(apps.contains),
      "Sam sees the children's apps with their age ratings")
  }

  private func web() async throws {
    title("13. Rosa makes Emily ask for websites, reads the time on them, and deletes it")
    let rosa = layout.credential(1, "Rosa").path
    for command in ["web-rule ask", "web-reporting sites"] {
      try await self.rosa(command, "--child", "Emily")
    }
    let news = ["browse", "https://www.news.example/today"]
    try await browses(news, "the page is blocked, and Emily can ask for it")
    try await check(
      landmarks(1, news + ["--asks"]) == "asked for the page\n", "Emily asks for news.example")
    try await answer("news.example", "approve")
    try await browses(news + ["--seconds", "3"], "the page is open")
    var report = ""
    try await until("Rosa reads the time of the day and of the site, and of no page") {
      report = try await cluster.relayctl("web-report", "--as", rosa)
      if report.contains("news.example") { return !report.contains("today") }
      // An app that ends at once may not have stored its last second.
      _ = try await landmarks(1, news + ["--seconds", "1"])
      return false
    }
    for line in report.split(separator: "\n") { say(String(line)) }
    try await self.rosa("delete-web-report")
    try await check(
      !cluster.relayctl("web-report", "--as", rosa).contains("news.example"), "the time is gone")
  }

  private func managed() async throws {
    title("14. Landmarks manages Emily's device, until Rosa takes the authorization back")
    async let managed = landmarks(1, ["manage", "news.example"])
    try await answer("manage", "approve")
    try await check(
      managed == "the device blocks news.example\n", "Landmarks blocks a site on the device")
    let news = ["browse", "https://news.example/"]
    try await browses(news, "the page is blocked")
    let school = ["browse", "https://school.example/"]
    try await browses(school, "the page is blocked, and Emily can ask for it")
    let hours = [-120, 1_800].map(Self.clockTime(after:))
    try await check(
      landmarks(1, ["bedtime"] + hours)
        == "the device blocks the web from \(hours[0]) to \(hours[1])\n",
      "Landmarks plans a bedtime, which has begun")
    try await browses(school, "the page is blocked")
    try await killChildAgent()
    try await browses(news, "the page is blocked")
    try await rosa("withdraw --authorization", RunningCluster.app, "--child", "Emily")
    try await browses(news, "the page is open")
    try await browses(school, "the page is blocked, and Emily can ask for it")
  }

  /// The time of the day after some seconds, such as 20:00.
  private static func clockTime(after seconds: TimeInterval) -> String {
    let time = Calendar.current.dateComponents(
      [.hour, .minute], from: Date(timeIntervalSinceNow: seconds))
    return String(format: "%02d:%02d", time.hour!, time.minute!)
  }

  /// Waits until Landmarks reports this about a page.
  private func browses(_ arguments: [String], _ expected: String) async throws {
    try await until("Landmarks: \(expected)") {
      try await landmarks(1, arguments) == expected + "\n"
    }
  }

  /// Answers the open question of Emily whose text has a word, as Rosa.
  private func answer(_ word: String, _ choice: String) async throws {
    let rosa = layout.credential(1, "Rosa").path
    var id = ""
    try await until("Rosa sees the question") {
      let pending = try await cluster.relayctl("pending", "--as", rosa)
      let row = pending.split(separator: "\n").first { $0.contains(word) }
      id = row?.split(separator: " ").first.map(String.init) ?? ""
      return !id.isEmpty
    }
    try await self.rosa("answer", id, choice)
  }

  /// Runs a command of relayctl as Rosa, and prints the command's words with the answer.
  func rosa(_ command: String, _ arguments: String...) async throws {
    let words = command.split(separator: " ").map(String.init)
    let line = try await cluster.relayctl(
      words + arguments + ["--as", layout.credential(1, "Rosa").path])
    say("relayctl \(command): \(line.trimmingCharacters(in: .newlines))")
  }

  private func finalTable() throws {
    title("The status of each device")
    let devices = Status.all(layout)
    print(Status.table(devices))
    for family: UInt64 in [1, 2] {
      let views = devices.filter { $0.family == family }.map { $0.questions.map(\.line) }
      try check(Set(views).count == 1, "all devices of family \(family) see the same questions")
    }
    let state = layout.agent("child-agent-1")
      .appendingPathComponent("app-1-3-\(RunningCluster.app)")
    let journal = try Self.journal(in: state)
    try check(
      journal.count == 6 && Set(journal).count == 6,
      "Landmarks handled six responses, each once")
    try check(cluster.relay.restarts == 2, "the relay was killed twice")
  }
}
