public import ArgumentParser
import ContentCheck
public import Credentials
import DeviceAgent
public import FamilyModel
import Foundation
public import ProgramOptions
import SQLiteStore
import ServiceLifecycle
import Wording

/// The options that all agents share.
public struct AgentOptions: ParsableArguments {
  /// The credential files.
  @Option(
    name: .customLong("credential"),
    help: "A device's credential file, or a folder of them. Repeat the option for more.")
  public var credentials: [String]

  /// The folder of the agent's durable state.
  @Option(help: "The folder for the agent's durable state (created with mode 0700).")
  public var directory: String

  /// The families to host.
  @Option(help: "Host only these families: a number or a range, for example 1-500.")
  public var families: String?

  /// The script that answers prompts; `nil` in a terminal.
  @Option(help: "A JSON script that answers prompts. Without it, the terminal asks.")
  public var script: String?

  /// Whether the trace contains every durable record.
  @Flag(
    help:
      "First replace a damaged store by one with all records that are whole; keep the damaged file."
  )
  var salvage = false

  @Flag(help: "Also trace every durable record, for programs that check a run.")
  public var traceAll = false

  /// Whether a person uses the device in this terminal.
  @Flag(help: "Run interactively (the default without --script).")
  public var interactive = false

  /// Whether the socket `screen.ipc` serves the devices' screens.
  @Flag(help: "Serve the devices' screens as JSON at the socket screen.ipc in --directory.")
  public var screen = false

  /// The language of the screen.
  @Option(
    help: "The screen's language: \(AgentOptions.languages) (default: the locale's).")
  public var language: String?

  /// The folder of the worker that checks pictures; `nil`: every picture carries a warning.
  @Option(
    help:
      "The folder of a running content-worker that checks pictures. Without it, each has a warning, and apps get no verdict."
  )
  public var contentWorker: String?

  /// Whether notices appear on the desktop; `nil`: in a terminal.
  @Flag(
    inversion: .prefixedNo,
    help: "Show notices with the desktop's notification service (default: in a terminal only).")
  public var desktopNotifications: Bool?

  /// The table of regions; `nil`: the built-in table.
  @Option(
    help: .init(
      "A table of regions that replaces the built-in one; `relayctl regions` checks it.",
      valueName: "file"))
  public var regions: String?

  /// The days for which contents stay; `nil`: for good.
  @Option(
    help: """
      Days for which texts, and questions that were declined, cancelled or expired, stay. A start \
      erases older contents, and those of removed persons, at most once a day (default: never).
      """)
  public var retention: Int?

  /// The lowest level that is logged.
  @OptionGroup public var logging: LogOptions

  private static let languages = "en, fr, es, pt-BR, ja or zh-Hans"

  public init() {}

  /// Rejects missing or contradicting sources of answers, and unknown values.
  ///
  /// - Throws: `ValidationError` with the offending value and the next step.
  public func validate() throws {
    guard script == nil || !interactive else {
      throw ValidationError("--interactive and --script exclude each other. Give one of them.")
    }
    try RetentionDays.check(retention)
    guard !screen || script == nil && !interactive else {
      throw ValidationError(
        "--screen excludes --interactive and --script: the socket's clients answer prompts.")
    }
    guard script != nil || interactive || screen || isatty(STDIN_FILENO) == 1 else {
      throw ValidationError(
        "Standard input is not a terminal, so prompts cannot be answered. Give --script FILE,"
          + " --screen, or --interactive to read the answers from standard input.")
    }
    if let script, !FileManager.default.isReadableFile(atPath: script) {
      throw ValidationError(
        "Cannot read the script '\(script)'. A script that answers nothing is {\"rules\": []}.")
    }
    if let language, Language(spokenIn: language) == nil {
      throw ValidationError("Unknown language '\(language)'. Choose \(Self.languages).")
    }
  }

  /// Reads the credentials of persons with a wanted role, in the selected families.
  ///
  /// - Parameter owner: The owner's role with its article, for the error.
  /// - Throws: `ValidationError` with the next step, when no credential matches.
  public func loadCredentials(of owner: String, where isWanted: (Role) -> Bool) throws
    -> [Credential]
  {
    var files: [URL] = []
    for path in credentials {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw ValidationError("Cannot find '\(path)'. `relayctl apply` writes credential files.")
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
      throw ValidationError(
        "No credential of \(owner) matches. Check --credential and --families.")
    }
    return found
  }

  /// Runs the host until a signal arrives or the person at the terminal quits.
  public func run(
    _ credentials: [Credential], apps: [AppID: [String]], manifests: [AppID: AppManifest] = [:],
    label: String
  ) async throws {
    PrivateFile.restrictNewFilesToOwner()
    let folder = URL(fileURLWithPath: directory)
    try PrivateFile.createFolder(folder)
    var configuration = AgentHost.Configuration(
      credentials: credentials, directory: folder, apps: apps, manifests: manifests,
      regions: try RegionTable(file: regions))
    configuration.launcher = "/proc/self/exe"
    configuration.checker = try contentWorker.map {
      try ContentClient(directory: URL(fileURLWithPath: $0))
    }
    configuration.retention = retention.map { .days($0) }
    configuration.secrets = self.credentials.map { URL(fileURLWithPath: $0) }
    let store = folder.appendingPathComponent("agent.sqlite").path
    if salvage { try salvageStore(store) }
    if screen { return try await runScreen(configuration, store, label: label) }
    guard let script else { return try await runTerminal(configuration, store, label: label) }
    let responder = ScriptResponder(file: URL(fileURLWithPath: script))
    let trace = Trace.standardOutput
    let host = try AgentHost(
      configuration, store: SQLiteAgentStore(path: store), responder: responder,
      observer: traceAll ? DurableTrace(trace: trace) : nil, trace: trace,
      logger: logging.logger(label: label))
    try await serve([.init(service: host)], label)
  }

  private func salvageStore(_ path: String) throws {
    let result = try SQLiteAgentStore.salvage(path: path)
    let part = result.isPartial ? " A part of the file could not be read." : ""
    let text =
      "Kept \(result.kept) records, lost \(result.lost).\(part) The damaged file is "
      + "\(result.damaged).\n"
    try FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  func serve(_ services: [ServiceGroupConfiguration.ServiceConfiguration], _ label: String)
    async throws
  {
    let group = ServiceGroup(
      configuration: .init(
        services: services, gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logging.logger(label: label)))
    try await group.run()
  }
}
