import AgentCommand
import ArgumentParser
import FamilyModel
import Foundation

/// The device of a child, or of several: prompts, the conversation, and the apps.
@main
struct ChildAgent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "child-agent",
    abstract: "A child's device: prompts, the conversation, and the apps that it launches.",
    usage: """
      child-agent --credential <file> --directory <folder> [--app <identifier>=<program>] …
      child-agent join --credential <file>
      """,
    discussion: "All options: child-agent run --help",
    subcommands: [Run.self, Join.self], defaultSubcommand: Run.self)

  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Be the device; also without this word.")

    @OptionGroup var options: AgentOptions

    @Option(
      name: .customLong("app"),
      help: "An app on the device, as IDENTIFIER=PROGRAM. Can be given several times.")
    var apps: [String] = []

    @Option(
      name: .customLong("manifest"),
      help: "What an app says of itself, as IDENTIFIER=FILE. Can be given several times.")
    var manifests: [String] = []

    func run() async throws {
      let programs = try Self.pairs(apps, "--app takes IDENTIFIER=PROGRAM.").mapValues { [$0] }
      for file in programs.values.joined()
      where !FileManager.default.isExecutableFile(atPath: file) {
        throw ValidationError("--app: there is no program \(file) that can be run.")
      }
      let manifests = try Self.pairs(manifests, "--manifest takes IDENTIFIER=FILE.")
        .mapValues { try AppManifest(file: URL(fileURLWithPath: $0)) }
      let credentials = try options.load("a child") { !$0.isGuardian }
      try await options.run(
        credentials, apps: programs, manifests: manifests, label: "child-agent")
    }

    private static func pairs(_ texts: [String], _ usage: String) throws -> [AppID: String] {
      var pairs: [AppID: String] = [:]
      for text in texts {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError(usage) }
        pairs[AppID(parts[0])] = parts[1]
      }
      return pairs
    }
  }
}
