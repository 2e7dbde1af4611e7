public import ArgumentParser
public import Credentials
import DeviceAgent
public import FamilyModel
import Foundation
import Logging
import ProgramOptions
import SQLiteStore
import ServiceLifecycle
import Wording

/// What the commands of all agents take.
public struct AgentOptions: ParsableArguments {
  /// The credential files.
  @Option(
    name: .customLong("credential"),
    help: "A device's credential file, or a folder of them. Can be given several times.")
  public var credentials: [String]

  /// The folder of the agent's durable state.
  @Option(help: "The folder for the agent's durable state; it is made with mode 0700.")
  public var directory: String

  /// The families to host.
  @Option(help: "Host only these families of the credentials, for example 1-500.")
  public var families: String?

  /// The script that answers.
  @Option(help: "A JSON script that answers prompts; without it the terminal asks.")
  public var script: String?

  /// Whether the trace is complete.
  @Flag(help: "Trace also what becomes durable, for programs that check a run.")
  public var traceAll = false

  /// Whether a person sits before the terminal.
  @Flag(help: "Be the device in this terminal; so it is without a script, too.")
  public var interactive = false

  /// The language of the screen.
  @Option(help: "The language spoken: en, fr, es, pt-BR, ja or zh-Hans; else the locale's.")
  public var language: String?

  /// The folder of the worker that checks pictures.
  @Option(
    help:
      "The folder of a running content-worker, for the pictures of a terminal; without one each has a warning."
  )
  public var contentWorker: String?

  /// How much is logged.
  @Option(help: "trace, debug, info, notice, warning, error or critical.")
  public var logLevel: String = "info"

  public init() {}

  /// Refuses two kinds of answers, and none.
  public func validate() throws {
    guard script == nil || !interactive else {
      throw ValidationError("--interactive and --script exclude each other: choose one.")
    }
    guard script != nil || interactive || isatty(STDIN_FILENO) == 1 else {
      throw ValidationError(
        "Nobody can answer: standard input is no terminal. Give --script FILE, or run it in a terminal"
          + " (--interactive reads the lines of standard input nevertheless).")
    }
    if let script, !FileManager.default.isReadableFile(atPath: script) {
      throw ValidationError(
        "There is no script \(script). One that answers nothing is {\"rules\": []}.")
    }
    guard language.map({ Language(spokenIn: $0) != nil }) ?? true else {
      throw ValidationError("--language is one of those that --help names.")
    }
    guard Logger.Level(rawValue: logLevel) != nil else {
      throw ValidationError("--log-level is one of those that --help names.")
    }
  }

  /// The credentials of people of these kinds.
  ///
  /// - Throws: `ValidationError` with what to do, when there is none.
  public func load(_ label: String, where isWanted: (Role) -> Bool) throws -> [Credential] {
    var files: [URL] = []
    for path in credentials {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw ValidationError("There is no \(path). `relayctl apply` writes credential files.")
      }
      let url = URL(fileURLWithPath: path)
      files +=
        isFolder.boolValue
        ? try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
          .filter { $0.lastPathComponent.hasPrefix("family-") && $0.pathExtension == "json" }
          .sorted { $0.path < $1.path }
        : [url]
    }
    let range = try families.map(FamilyRange.parse)
    let found = try files.map { try Credential.read(from: $0) }
      .filter { isWanted($0.role) && range?.contains($0.address.family.rawValue) ?? true }
    guard !found.isEmpty else {
      throw ValidationError("None of the credentials is \(label)'s. See `relayctl apply --help`.")
    }
    return found
  }

  /// Runs the host until a signal ends it, or the person at the terminal does.
  public func run(
    _ credentials: [Credential], apps: [AppID: [String]], manifests: [AppID: AppManifest] = [:],
    label: String
  ) async throws {
    PrivateFile.keepToOwner()
    let folder = URL(fileURLWithPath: directory)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let configuration = AgentHost.Configuration(
      credentials: credentials, directory: folder, apps: apps, manifests: manifests)
    let store = folder.appendingPathComponent("agent.sqlite").path
    guard let script else { return try await converse(configuration, store, label: label) }
    let responder = ScriptResponder(file: URL(fileURLWithPath: script))
    let trace = Trace.standardOutput
    let host = try AgentHost(
      configuration, store: SQLiteAgentStore(path: store), responder: responder,
      observer: traceAll ? DurableTrace(trace: trace) : nil, trace: trace, logger: logger(label))
    try await serve([.init(service: host)], label)
  }

  func logger(_ label: String) -> Logger {
    var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    return logger
  }

  func serve(_ services: [ServiceGroupConfiguration.ServiceConfiguration], _ label: String)
    async throws
  {
    let group = ServiceGroup(
      configuration: .init(
        services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger(label)))
    try await group.run()
  }
}
