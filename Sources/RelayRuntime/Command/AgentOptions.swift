public import ArgumentParser
public import FamilyModel
import Foundation
import Logging
import SQLiteStore
import ServiceLifecycle

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

  /// How much is logged.
  @Option(help: "trace, debug, info, notice, warning, error or critical.")
  public var logLevel: String = "info"

  public init() {}

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
    let range = try families.map(Self.range)
    let found = try files.map { try Credential.read(from: $0) }
      .filter { isWanted($0.role) && range?.contains($0.address.family.rawValue) ?? true }
    guard !found.isEmpty else {
      throw ValidationError("None of the credentials is \(label)'s. See `relayctl apply --help`.")
    }
    return found
  }

  /// The numbers of `--families`: one, or a range.
  ///
  /// - Throws: `ValidationError` for anything else.
  public static func range(_ text: String) throws -> ClosedRange<UInt64> {
    let parts = text.split(separator: "-").compactMap { UInt64($0) }
    guard let first = parts.first, let last = parts.last, parts.count <= 2, first <= last else {
      throw ValidationError("--families takes a number or a range, for example 1-500.")
    }
    return first...last
  }

  /// Runs the host until a signal ends it.
  public func run(_ credentials: [Credential], apps: [AppID: [String]], label: String) async throws
  {
    let folder = URL(fileURLWithPath: directory)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    let store = try SQLiteAgentStore(path: folder.appendingPathComponent("agent.sqlite").path)
    let responder: any Responder =
      script.map { ScriptResponder(file: URL(fileURLWithPath: $0)) } ?? TerminalResponder()
    let host = try AgentHost(
      AgentHost.Configuration(credentials: credentials, directory: folder, apps: apps),
      store: store, responder: responder, trace: .standardOutput, logger: logger)
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: host)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger))
    try await group.run()
  }
}
