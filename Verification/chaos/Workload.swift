import Credentials
import FamilyModel
import Foundation
import History
import ProcessCluster
import RelayClient
import Subprocess
import SystemClock
import SystemPackage

/// The workload of one family: the child asks, guardians answer by script, and both write texts,
/// change contacts, cancel and withdraw.
struct Workload: Sendable {
  /// The planned course of a question. The handle encodes it for the scripts of `ChaosCluster`.
  enum Ask: String, CaseIterable {
    case yes, no, day, race, slow, person, open
  }
  /// Marks that only the workload's handles, texts and titles contain, for `LeakCheck`.
  static let marks = ["alex-x", "other-x", "example.org", "whispered", "All day"]
  /// Milliseconds between two operations of a person.
  static let pause = 150...900
  /// Seconds after which a person closes an unresponsive app.
  static let patience = 15.0

  let chaosCluster: ChaosCluster
  let recorder: Recorder
  let log: RunLog
  let family: UInt64
  let child: [Credential]
  let guardians: [Credential]
  let clients: PeopleClients

  /// Asks questions as the child, and cancels some, until the task is cancelled.
  func ask(_ seed: UInt64) async {
    var random = IDSource(seed: seed)
    var number = 0
    while !Task.isCancelled {
      number += 1
      let kind = Ask.allCases.randomElement(using: &random)!
      let guardianName = Bool.random(using: &random) ? "alex" : "other"
      let device = child.randomElement(using: &random)!
      let handle = "p\(number)-\(kind.rawValue)-\(guardianName)-x"
      let id = UUID()
      var arguments = ["ask", "--handle", handle, "--question-id", id.uuidString]
      if kind == .day {
        arguments += ["--choices", "day=All day:approve,decline=No:decline"]
      }
      let allArguments = arguments
      let outcome = await operation("ask-\(kind.rawValue)") {
        try await openApp(device, allArguments) ? .ok : .unknown
      }
      let isCancelled = kind == .open && outcome == .ok && Bool.random(using: &random)
      if isCancelled {
        await pause(&random)
        await send("cancel", .cancel(ID128(id)), as: device)
      }
      await pause(&random)
    }
  }

  /// Writes texts, changes contacts and withdraws approvals until the task is cancelled.
  func interact(_ seed: UInt64) async {
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
        await send("add contact", .changeContact(child: childID, content), as: guardian)
      case 7 where !contacts.isEmpty:
        let handle = contacts.remove(at: Int.random(in: contacts.indices, using: &random))
        let content = Content.contact(handle, known: false)
        await send("remove contact", .changeContact(child: childID, content), as: guardian)
      case 8 where !contacts.isEmpty:
        let handle = contacts.randomElement(using: &random)!
        await send(
          "withdraw",
          .withdraw(child: childID, .withdrawal(.handle(handle, in: AppID(RunningCluster.app)))),
          as: guardian)
      default:
        let number = Int.random(in: 1...60, using: &random)
        let guardianName = Bool.random(using: &random) ? "alex" : "other"
        let handle = Handle("p\(number)-yes-\(guardianName)-x", .custom)
        await send(
          "withdraw", .withdraw(child: childID, .withdrawal(.handle(handle, in: nil))),
          as: guardian)
      }
      await pause(&random)
    }
  }

  /// Opens the app on the child's device with these arguments.
  ///
  /// - Returns: Whether the app succeeded.
  @discardableResult
  func openApp(_ device: Credential, _ arguments: [String]) async throws -> Bool {
    let agent = "child-agent-\(family)"
    let credential = chaosCluster.layout.appCredential(
      family: family, device: device.address.device.rawValue)
    let output = try FileDescriptor.open(
      FilePath(Self.log(of: device, chaosCluster.layout).path), .writeOnly,
      options: [.create, .append],
      permissions: [.ownerReadWrite])
    defer { try? output.close() }
    var variables = ChaosCluster.environment(agent, chaosCluster.layout)
    variables["PERMISSION_RELAY_DEVICE"] = credential.path
    let result = try await Subprocess.run(
      .path(FilePath(Layout.program("app-agent"))), arguments: Arguments(arguments),
      environment: .inherit.updating(
        Dictionary(
          uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) })),
      input: .none, output: .fileDescriptor(output, closeAfterSpawningProcess: false),
      error: .fileDescriptor(output, closeAfterSpawningProcess: false)
    ) { execution in
      // The person closes the app after the timeout.
      killLater(execution.processIdentifier.value, after: Self.patience)
    }
    result.closureResult.cancel()
    return result.terminationStatus.isSuccess
  }

  /// The log of the app when a person opens it.
  static func log(of device: Credential, _ layout: Layout) -> URL {
    layout.log("app-\(device.address.family.rawValue)-\(device.address.device.rawValue)")
  }

  private func send(_ kind: String, _ command: Command, as credential: Credential) async {
    _ = await operation(kind) {
      do {
        let (recorder, clients) = (recorder, clients)
        try await blocking {
          let (id, seq) = try clients.send(command, as: credential)
          recorder.record(.acknowledged(credential.address, id, seq: seq))
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
