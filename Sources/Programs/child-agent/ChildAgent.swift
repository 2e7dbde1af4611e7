import AgentCommand
import ArgumentParser
import Credentials
import DeviceAgent
import FamilyModel
import Foundation
import ProgramOptions

/// The agent of children's devices: prompts, the conversation, and the apps.
@main
struct ChildAgent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "child-agent",
    abstract: "Run a child's device: prompts, the conversation, and the apps it launches.",
    usage: """
      child-agent --credential <file> --directory <folder> [--app <identifier>=<program>] …
      child-agent join --credential <file>
      child-agent apps --directory <folder>
      """,
    discussion: "See `child-agent run --help` for all options.",
    version: Program.version,
    subcommands: [Run.self, Join.self, Apps.self], defaultSubcommand: Run.self)

  static func main() async {
    Launcher.superviseIfRequested()
    await Program.run(Self.self, status: ExitStatus.init(ofAgent:))
  }

  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Run the device (default subcommand).")

    @OptionGroup var options: AgentOptions

    @Option(
      name: .customLong("app"),
      help: "An app on the device, as IDENTIFIER=PROGRAM. Repeat the option for more.")
    var apps: [String] = []

    @Option(
      name: .customLong("manifest"),
      help: "An app's manifest, as IDENTIFIER=FILE. Repeat the option for more.")
    var manifests: [String] = []

    func validate() throws {
      let apps = try Self.pairs(self.apps, "--app takes IDENTIFIER=PROGRAM").keys.map(\.rawValue)
      for app in try Self.pairs(manifests, "--manifest takes IDENTIFIER=FILE").keys.sorted()
      where !apps.contains(app.rawValue) {
        throw ValidationError(
          "--manifest names the app '\(app.rawValue)', and no --app does. "
            + NearestWord.advice(app.rawValue, in: apps.sorted()))
      }
    }

    func run() async throws {
      let programs = try Self.pairs(apps, "--app takes IDENTIFIER=PROGRAM").mapValues { [$0] }
      for file in programs.values.joined()
      where !FileManager.default.isExecutableFile(atPath: file) {
        throw ValidationError(
          "--app: '\(file)' is not an executable program. Build it, or correct the path.")
      }
      let manifests = try Self.pairs(manifests, "--manifest takes IDENTIFIER=FILE")
        .mapValues { try AppManifest(file: URL(fileURLWithPath: $0)) }
      let credentials = try options.loadCredentials(of: "a child") { !$0.isGuardian }
      try await options.run(
        credentials, apps: programs, manifests: manifests, label: "child-agent")
    }

    private static func pairs(_ texts: [String], _ usage: String) throws -> [AppID: String] {
      var pairs: [AppID: String] = [:]
      for text in texts {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError("\(usage), not '\(text)'.") }
        pairs[AppID(parts[0])] = parts[1]
      }
      return pairs
    }
  }
}
