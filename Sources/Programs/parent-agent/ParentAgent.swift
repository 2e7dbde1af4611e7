import AgentCommand
import ArgumentParser
import FamilyModel

/// The device of a guardian, or of several: bubbles, review, answers.
@main
struct ParentAgent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "parent-agent",
    abstract: "A guardian's device: shows what the children ask, and answers.",
    usage: """
      parent-agent --credential <file> --directory <folder> …
      parent-agent join --credential <file>
      """,
    discussion: "All options: parent-agent run --help",
    subcommands: [Run.self, Join.self], defaultSubcommand: Run.self)

  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Be the device; also without this word.")

    @OptionGroup var options: AgentOptions

    func run() async throws {
      let credentials = try options.load("a guardian") { $0.isGuardian }
      try await options.run(credentials, apps: [:], label: "parent-agent")
    }
  }
}
