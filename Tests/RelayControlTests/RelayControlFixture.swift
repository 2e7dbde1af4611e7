import Credentials
import FamilyModel
import Foundation
import RelayClient
import Subprocess
import Synchronization
import SystemClock
import SystemPackage
import Testing

/// A command's output, errors and success.
struct Outcome: Sendable {
  var output: String
  var error: String
  /// The exit code; `nil` after a signal.
  var code: Int32?
  var isSuccess: Bool { code == 0 }

  init(output: String, error: String, status: TerminationStatus) {
    self.output = output
    self.error = error
    if case .exited(let code) = status { self.code = code }
  }

  /// The words of each line of a table.
  var words: [[String]] {
    output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
  }
  /// The objects in the output of `history --json` that are lines of conversations.
  var conversation: [[String: Any]] {
    let changes = ["family", "passcode", "limits", "contact", "account", "age", "web", "safety"]
    return objects.filter { !changes.contains($0["kind"] as? String ?? "") }
  }
  /// The objects in the output of `--json`.
  var objects: [[String: Any]] {
    let found = try? JSONSerialization.jsonObject(with: Data(output.utf8))
    return found as? [[String: Any]] ?? []
  }
}

/// The relay and relayctl as processes in a temporary folder, with two families.
final class RelayControlFixture: Sendable {
  static let families = """
    families:
    - id: 1
      members:
      - {name: Rosa, role: organizer}
      - {name: Alex, role: guardian}
      - {name: Emily, role: child, birthdate: "2014-05-17", devices: 2}
    - id: 4
      members:
      - {name: Wei, role: organizer}
      - {name: 莲, role: child, region: CN}
      - {name: Noah, role: child}
      - {name: Ines, role: adult}
    """

  let folder: URL
  private let relay = Mutex<Task<Void, Never>?>(nil)
  private var credentials: URL { folder.appendingPathComponent("credentials") }
  var relayFolder: String { folder.appendingPathComponent("relay").path }

  /// Runs the body with a running relay, and removes the folder afterwards.
  static func with(_ body: (RelayControlFixture) async throws -> Void) async throws {
    let fixture = RelayControlFixture()
    try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: fixture.folder) }
    try await fixture.must("init", "--directory", fixture.relayFolder)
    let file = fixture.folder.appendingPathComponent("families.yaml")
    try RelayControlFixture.families.write(to: file, atomically: true, encoding: .utf8)
    do {
      try await fixture.startRelay()
      try await fixture.must(
        "apply", file.path, "--directory", fixture.relayFolder, "--credentials",
        fixture.credentials.path)
      try await body(fixture)
    } catch {
      await fixture.stopRelay()
      throw error
    }
    await fixture.stopRelay()
  }

  private init() {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "rc-\(UUID().uuidString.prefix(8))")
  }

  /// The programs are in the test bundle's folder.
  private static func program(_ name: String) -> Executable {
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0])
    return .path(
      FilePath(bundle.deletingLastPathComponent().appendingPathComponent(name).path))
  }

  /// Starts the relay, and waits until its sockets are bound.
  func startRelay() async throws {
    let output = folder.appendingPathComponent("relay.out")
    let file = try FileDescriptor.open(
      FilePath(output.path), .writeOnly, options: [.create, .truncate],
      permissions: .ownerReadWrite)
    let task = Task { [relayFolder] in
      _ = try? await Subprocess.run(
        Self.program("relay"), arguments: ["--directory", relayFolder],
        output: .fileDescriptor(file, closeAfterSpawningProcess: true), error: .discarded)
    }
    relay.withLock { $0 = task }
    let end = ContinuousClock.now + .seconds(120)
    while try Data(contentsOf: output).isEmpty, ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Ends the relay with SIGKILL.
  func stopRelay() async {
    let task = relay.withLock { $0.take() }
    task?.cancel()
    await task?.value
  }

  /// The credential file of a member's first device.
  func file(_ name: String, family: Int = 1) -> String {
    credentials.appendingPathComponent("family-\(family)-\(name)-1.json").path
  }

  func credential(_ name: String, family: Int = 1) throws -> Credential {
    try Credential.read(from: URL(fileURLWithPath: file(name, family: family)))
  }

  /// Runs relayctl with this input.
  func run(_ arguments: [String], input: String = "") async throws -> Outcome {
    try await Self.run("relayctl", arguments, input: input)
  }

  /// Runs a program with this input, also without a relay.
  static func run(_ name: String, _ arguments: [String], input: String = "") async throws -> Outcome
  {
    let result = try await Subprocess.run(
      program(name), arguments: Arguments(arguments),
      environment: .inherit.updating(["TZ": "UTC"]), input: .string(input),
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    return Outcome(
      output: result.standardOutput, error: result.standardError,
      status: result.terminationStatus)
  }

  /// Runs relayctl with its input and output at a terminal.
  ///
  /// - Returns: Whether the command succeeded.
  func run(_ arguments: [String], at terminal: Terminal) async throws -> Bool {
    let (input, output, error) = (
      try terminal.open(), try terminal.open(), try terminal.open()
    )
    let result = try await Subprocess.run(
      Self.program("relayctl"), arguments: Arguments(arguments),
      input: .fileDescriptor(input, closeAfterSpawningProcess: true),
      output: .fileDescriptor(output, closeAfterSpawningProcess: true),
      error: .fileDescriptor(error, closeAfterSpawningProcess: true))
    return result.terminationStatus.isSuccess
  }

  /// Runs relayctl, which must succeed.
  @discardableResult
  func must(
    _ arguments: String..., input: String = "", at location: SourceLocation = #_sourceLocation
  )
    async throws -> Outcome
  {
    let outcome = try await run(arguments, input: input)
    #expect(outcome.isSuccess, "\(arguments): \(outcome.error)", sourceLocation: location)
    return outcome
  }

  /// Runs relayctl, which must fail with all of these texts in its error and no output.
  ///
  /// - Parameter code: The exit code; `nil` accepts each but zero.
  func mustFail(
    _ arguments: String..., input: String = "", expecting texts: [String], code: Int32? = nil,
    at location: SourceLocation = #_sourceLocation
  ) async throws {
    let outcome = try await run(arguments, input: input)
    #expect(!outcome.isSuccess, "\(arguments)", sourceLocation: location)
    #expect(outcome.output == "", "\(arguments)", sourceLocation: location)
    if let code { #expect(outcome.code == code, "\(arguments)", sourceLocation: location) }
    for text in texts {
      #expect(
        outcome.error.contains(text), "\(arguments): \(outcome.error)", sourceLocation: location)
    }
  }

  /// Reports the apps on the child's first device.
  func report(_ apps: [ListedApp], by child: String = "Emily") throws {
    let credential = try credential(child)
    var device = try DeviceClient(credential)
    try device.send(.noteAge(credential.personID, .apps(apps)))
  }

  /// Submits a child's question about one person.
  ///
  /// - Returns: The question's id as a UUID.
  @discardableResult
  func ask(
    _ handle: Handle, given: String? = nil, by child: String = "Emily", family: Int = 1,
    app: String = "example.landmarks", expiration: Instant? = nil, id: UUID = UUID()
  ) throws -> String {
    var person = Subject(handle: handle)
    if let given {
      person.name = NameParts()
      person.name?.given = given
    }
    let question = Question(
      id: ID128(id),
      topic: .communication(people: [person], actions: .message), expiration: expiration)
    let credential = try credential(child, family: family)
    let header = QuestionHeader(
      id: question.id, child: credential.personID, app: AppID(app),
      subjects: Array(handle.value.utf8.prefix(64)),
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) },
      expiration: expiration)
    var device = try DeviceClient(credential)
    try device.send(.ask(header, .question(question)))
    return id.uuidString
  }
}
