import AgentCommand
import ArgumentParser
import FamilyModel
import ProgramOptions

/// The agent of guardians' devices: bubbles, review, answers.
@main
struct ParentAgent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "parent-agent",
    abstract: "Run a guardian's device: review the children's questions and answer them.",
    usage: """
      parent-agent --credential <file> --directory <folder> …
      parent-agent join --credential <file>
      """,
    discussion: "See `parent-agent run --help` for all options.",
    version: Program.version,
    subcommands: [Run.self, Join.self], defaultSubcommand: Run.self)

  static func main() async { await Program.run(Self.self, status: ExitStatus.init(ofAgent:)) }

  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Run the device (default subcommand).")

    @OptionGroup var options: AgentOptions

    func run() async throws {
      let credentials = try options.loadCredentials(of: "a guardian") { $0.isGuardian }
      try await options.run(credentials, apps: [:], label: "parent-agent")
    }
  }
}
