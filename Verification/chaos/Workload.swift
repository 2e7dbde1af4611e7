import Credentials
import FamilyModel
import Foundation
import History
import ProcessCluster
import RelayClient
import Subprocess
import SystemPackage

/// What the people of one family do all the time: the child asks, guardians answer by script, and both write,
/// change contacts and take things back.
struct Workload: Sendable {
  /// How a question goes: who answers what is written in the handle, for the scripts of `ChaosCluster`.
  enum Ask: String, CaseIterable {
    case yes, no, day, race, slow, person, open
  }
  /// What is in every handle, text and title of the workload, and in nothing else: see `LeakCheck`.
  static let marks = ["alex-x", "other-x", "example.org", "whispered", "All day"]
  /// Milliseconds between two things that a person does.
  static let pause = 150...900
  /// Seconds that a person waits for the app.
  static let patience = 15.0

  let stage: ChaosCluster
  let recorder: Recorder
  let log: Log
  let family: UInt64
  let child: [Credential]
  let guardians: [Credential]

  /// The child's part.
  func ask(_ seed: UInt64) async {
    var random = IDSource(seed: seed)
    var number = 0
    while !Task.isCancelled {
      number += 1
      let kind = Ask.allCases.randomElement(using: &random)!
      let who = Bool.random(using: &random) ? "alex" : "other"
      let device = child.randomElement(using: &random)!
      let handle = "p\(number)-\(kind.rawValue)-\(who)-x"
      let id = UUID()
      var arguments = ["ask", "--handle", handle, "--question-id", id.uuidString]
      if kind == .day {
        arguments += ["--choices", "day=All day:approve,decline=No:decline"]
      }
      let words = arguments
      let outcome = await operation("ask-\(kind.rawValue)") {
        try await openApp(device, words) ? .ok : .unknown
      }
      let isTakenBack = kind == .open && outcome == .ok && Bool.random(using: &random)
      if isTakenBack {
        await pause(&random)
        await send("take back", .cancel(ID128(id)), as: device)
      }
      await pause(&random)
    }
  }

  /// What else is said and done.
  func talk(_ seed: UInt64) async {
    var random = IDSource(seed: seed)
    let childID = child[0].personID
    var contacts: [Handle] = []
    while !Task.isCancelled {
      let guardian = guardians.randomElement(using: &random)!
      let text = Content.text("whispered \(random.next() % 1000)")
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<3: await send("text", .post(child: childID, text), as: guardian)
      case 3..<5: await send("text", .post(child: childID, text), as: child[0])
      case 5..<7:
        let handle = Handle("friend\(random.next() % 1000)@example.org", .emailAddress)
        contacts.append(handle)
        let content = Content.contact(handle, known: true)
        await send("contact", .changeContact(child: childID, content), as: guardian)
      case 7 where !contacts.isEmpty:
        let handle = contacts.remove(at: Int.random(in: contacts.indices, using: &random))
        let content = Content.contact(handle, known: false)
        await send("contact off", .changeContact(child: childID, content), as: guardian)
      case 8 where !contacts.isEmpty:
        let handle = contacts.randomElement(using: &random)!
        await send(
          "withdraw",
          .withdraw(child: childID, .withdrawal(.handle(handle, in: AppID(RunningCluster.app)))),
          as: guardian)
      default:
        let number = Int.random(in: 1...60, using: &random)
        let who = Bool.random(using: &random) ? "alex" : "other"
        let handle = Handle("p\(number)-yes-\(who)-x", .custom)
        await send(
          "withdraw", .withdraw(child: childID, .withdrawal(.handle(handle, in: nil))),
          as: guardian)
      }
      await pause(&random)
    }
  }

  /// Opens the app on the child's device with these arguments, as the person does.
  @discardableResult
  func openApp(_ device: Credential, _ arguments: [String]) async throws -> Bool {
    let agent = "child-agent-\(family)"
    let name = "app-\(family)-\(device.address.device.rawValue)-\(RunningCluster.app)"
    let credential = stage.layout.agent(agent).appendingPathComponent("\(name).json")
    let output = try FileDescriptor.open(
      FilePath(Self.log(of: device, stage.layout).path), .writeOnly, options: [.create, .append],
      permissions: [.ownerReadWrite])
    defer { try? output.close() }
    var variables = ChaosCluster.environment(agent, stage.layout)
    variables["PERMISSION_RELAY_DEVICE"] = credential.path
    let result = try await Subprocess.run(
      .path(FilePath(Layout.program("app-agent"))), arguments: Arguments(arguments),
      environment: .inherit.updating(
        Dictionary(
          uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) })),
      input: .none, output: .fileDescriptor(output, closeAfterSpawningProcess: false),
      error: .fileDescriptor(output, closeAfterSpawningProcess: false)
    ) { execution in
      // Who waits too long closes the app.
      killLater(execution.processIdentifier.value, after: Self.patience)
    }
    result.closureResult.cancel()
    return result.terminationStatus.isSuccess
  }

  /// What the app says when the person opens it.
  static func log(of device: Credential, _ layout: Layout) -> URL {
    layout.log("app-\(device.address.family.rawValue)-\(device.address.device.rawValue)")
  }

  private func send(_ kind: String, _ command: Command, as credential: Credential) async {
    _ = await operation(kind) {
      do {
        let recorder = recorder
        try await blocking {
          var client = try DeviceClient(credential)
          let (id, seq) = try client.send(command)
          recorder.note(.acknowledged(credential.address, id, seq: seq))
        }
        return .ok
      } catch is Problem {
        return .refused
      }
    }
  }

  private func operation(
    _ kind: String, _ body: () async throws -> Operation.Outcome
  ) async -> Operation.Outcome {
    let from = recorder.now
    let outcome = (try? await body()) ?? .unknown
    log.add(
      Operation(kind: kind, family: family, from: from, to: recorder.now, outcome: outcome))
    return outcome
  }

  private func pause(_ random: inout IDSource) async {
    try? await Task.sleep(for: .milliseconds(Int.random(in: Self.pause, using: &random)))
  }
}
