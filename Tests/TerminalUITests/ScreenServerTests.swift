@testable import Credentials
@testable import DeviceAgent
@testable import DeviceScreen
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import Logging
import RelayStore
import Testing
import ZeroMQ

/// The host of Emily's (3) and Noah's (4) devices without a relay, and the server of its screens.
private final class ScreenHost: Sendable {
  let folder: URL
  let host: AgentHost
  let responder = ScreenResponder()
  private let tasks: [Task<Void, any Error>]

  init() async throws {
    folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let (folder, organizer) = (folder, DeviceKeys().signingKey)
    let credentials = try [(3, "Emily"), (4, "Noah")].map { number, name in
      Credential(
        address: DeviceAddress(family: FamilyID(1), device: DeviceID(number)),
        personID: PersonID(number), role: .child, name: name, keys: try .generate(),
        deviceKeys: DeviceKeys(), organizerKey: organizer,
        relayKey: try CurveKeyPair.generate().publicKey,
        requests: "ipc://\(folder.path)/absent-1.ipc",
        broadcasts: "ipc://\(folder.path)/absent-2.ipc")
    }
    let logger = Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() }
    let host = try AgentHost(
      AgentHost.Configuration(credentials: credentials, directory: folder),
      store: MemoryAgentStore(), responder: responder, trace: Trace(nil), logger: logger)
    self.host = host
    let server = try ScreenServer(host, responder, at: folder, logger: logger)
    tasks = [Task { try await host.run() }, Task { try await server.run() }]
  }

  func client(_ language: String = "en") throws -> ScreenClient {
    try ScreenClient(folder.path, language: language)
  }

  func stop() async {
    for task in tasks { task.cancel() }
    for task in tasks { _ = try? await task.value }
    try? FileManager.default.removeItem(at: folder)
  }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct ScreenServerTests {
  private func play(_ body: (ScreenHost) async throws -> Void) async throws {
    let host = try await ScreenHost()
    do { try await body(host) } catch {
      await host.stop()
      throw error
    }
    await host.stop()
  }

  @Test("X4: a client receives the screens of all devices of a host, and the results of acts")
  func acts() async throws {
    try await play { host in
      let client = try host.client()
      let emily = try await client.screen(3, "screen of Emily") { $0.name == "Emily" }
      #expect(emily.role == "child" && emily.outbox == 0 && emily.children.count == 1)
      #expect(client.screens[4]?.name == "Noah")
      let reply = try await client.act(3, #"{"post":{"text":"Hello\n“you”"}}"#)
      #expect(reply == ActReply(done: 1, result: ActResult()))
      let posted = try await client.screen(3, "post in the outbox") { $0.outbox == 1 }
      #expect(posted.children[0].entries.map(\.text) == ["Hello\n“you”"])
      #expect(posted.children[0].entries.map(\.delivery) == ["sending"])
      #expect(client.screens[4]?.outbox == 0)
      #expect(try await client.act(3, #"{"readNotices":{}}"#).problem == nil)
      #expect(try await client.act(3, #"{"dismissNotice":{"id":null}}"#).problem == nil)
    }
  }

  @Test("X4: malformed messages, foreign devices and acts of another role are refused")
  func refusals() async throws {
    try await play { host in
      let client = try host.client("fr")
      _ = try await client.screen(3, "screen") { _ in true }
      for (device, act, code) in [
        (3, #"{"dance":{}}"#, 100), (3, "{}", 100), (3, #"{"post":{}}"#, 100),
        (9, #"{"readNotices":{}}"#, 400), (3, #"{"post":{"child":4,"text":"x"}}"#, 201),
        (3, #"{"post":{"text":" "}}"#, 306), (3, #"{"limits":{"child":3,"on":false}}"#, 201),
        (3, #"{"webRule":{"child":3,"access":"allow"}}"#, 201),
        (3, #"{"safety":{"child":3,"setting":"off"}}"#, 201),
        (3, #"{"passcode":"123456"}"#, 201), (3, #"{"cancel":{"question":"x"}}"#, 100),
        (3, #"{"answerPrompt":{"prompt":1,"choice":"cancel"}}"#, 400),
      ] as [(UInt32, String, Int)] {
        let reply = try await client.act(device, act)
        #expect(reply.problem?.code == code, "\(act)")
        #expect(reply.problem?.text.contains("\(code)") ?? false, "\(act)")
      }
      try client.send("no JSON")
      #expect(try await client.reply(to: nil).problem?.code == 100)
    }
  }

  @Test("X4: a prompt waits for a client and reaches its own device alone") func prompts()
    async throws
  {
    try await play { host in
      let client = try host.client()
      let question = ConversationBuilder.question(1)
      let noah = DeviceAddress(family: FamilyID(1), device: DeviceID(4))
      async let answer = host.responder.answer(
        .permission(ConversationBuilder.app, question), in: "Chats", on: noah)
      let prompt = try await client.screen(4, "prompt") { !$0.prompts.isEmpty }.prompts[0]
      #expect(prompt.kind == "permission" && prompt.window == "Chats")
      #expect(client.screens[3]?.prompts.isEmpty ?? false)
      // A number of an earlier run is far below.
      #expect(prompt.id > 1_000_000_000_000)
      let act = #"{"answerPrompt":{"prompt":\#(prompt.id),"choice":"askByMessage"}}"#
      #expect(try await client.act(3, act).problem?.code == 400)
      #expect(try await client.act(4, act).problem == nil)
      #expect(await answer == .askByMessage)
      _ = try await client.screen(4, "no prompt") { $0.prompts.isEmpty }
      #expect(try await client.act(4, act).problem?.code == 400)
    }
  }

  @Test("X4: a passcode is refused until the wait ends") func waiting() async throws {
    try await play { host in
      let client = try host.client()
      let emily = DeviceAddress(family: FamilyID(1), device: DeviceID(3))
      let question = ConversationBuilder.question(1)
      let task = Task {
        await host.responder.answer(
          .passcode(ConversationBuilder.app, question, wait: .seconds(600), after: .wrong), in: "",
          on: emily)
      }
      let prompt = try await client.screen(3, "prompt") { !$0.prompts.isEmpty }.prompts[0]
      let act = #"{"prompt":\#(prompt.id),"choice":"approve","passcode":"731950"}"#
      let problem = try await client.act(3, #"{"answerPrompt":\#(act)}"#).problem
      #expect(problem?.code == 441 && problem?.text.hasPrefix("Try again in ") ?? false)
      let cancel = #"{"answerPrompt":{"prompt":\#(prompt.id),"choice":"cancel"}}"#
      #expect(try await client.act(3, cancel).problem == nil)
      #expect(await task.value == .cancel)
    }
  }

  @Test("X4: the seventeenth client receives a problem and no screen") func watchers() async throws
  {
    try await play { host in
      let clients = try (0..<ScreenLimits.watchers).map { _ in try host.client() }
      for client in clients { _ = try await client.screen(3, "screen") { _ in true } }
      let late = try host.client()
      try late.watch()
      #expect(try await late.reply(to: nil).problem?.code == 307)
      #expect(late.updates == 0)
    }
  }

  @Test("X4: a message above the bound ends its connection, and other clients continue")
  func oversized() async throws {
    try await play { host in
      let (client, other) = (try host.client(), try host.client())
      _ = try await client.screen(3, "screen") { _ in true }
      _ = try await other.screen(3, "screen") { _ in true }
      let text = String(repeating: "x", count: ScreenLimits.messageBytes)
      try client.send(#"{"id":77,"device":"1-3","act":{"post":{"text":"\#(text)"}}}"#)
      #expect(try await other.act(3, #"{"post":{"text":"short"}}"#).problem == nil)
      _ = try await other.screen(3, "post") { $0.outbox == 1 }
      // The client connects again, and the long message has had no effect.
      _ = try await client.screen(3, "post") { $0.outbox == 1 }
    }
  }
}
