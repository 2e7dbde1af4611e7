import ArgumentParser
import FamilyModel
import RelayRuntime

/// The device of a child, or of several: prompts, the conversation, and the apps.
@main
struct ChildAgent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "child-agent",
    abstract: "A child's device: prompts, the conversation, and the apps that it launches.",
    subcommands: [Run.self, Join.self], defaultSubcommand: Run.self)

  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Be the device; also without this word.")

    @OptionGroup var options: AgentOptions

    @Option(
      name: .customLong("app"),
      help: "An app on the device, as IDENTIFIER=PROGRAM. Can be given several times.")
    var apps: [String] = []

    func run() async throws {
      var installed: [AppID: [String]] = [:]
      for app in apps {
        let parts = app.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError("--app takes IDENTIFIER=PROGRAM.") }
        installed[AppID(parts[0])] = [parts[1]]
      }
      let credentials = try options.load("a child") { !$0.isGuardian }
      try await options.run(credentials, apps: installed, label: "child-agent")
    }
  }
}
