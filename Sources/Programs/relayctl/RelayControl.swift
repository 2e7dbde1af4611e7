import ArgumentParser
import Credentials
import Foundation
import ProgramOptions

/// Makes a relay's keys and families with their devices' keys, and looks into families.
@main
struct RelayControl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relayctl", abstract: "Sets up a relay and its families, and looks into them.",
    discussion:
      "The operator's commands take --directory RELAY, a guardian's take --as CREDENTIAL.",
    groupedSubcommands: [
      CommandGroup(
        name: "Set-up", subcommands: [Init.self, Generate.self, Check.self, Apply.self]),
      CommandGroup(
        name: "Operator's",
        subcommands: [Families.self, Members.self, Devices.self]),
      CommandGroup(
        name: "Guardian's looking",
        subcommands: [
          Pending.self, History.self, Known.self, Ages.self, Settings.self, Household.self,
        ]),
      CommandGroup(
        name: "Guardian's acting",
        subcommands: [
          AnswerQuestion.self, Post.self, SetLimits.self, ChangeContact.self, Withdraw.self,
          SetPasscode.self, AddChild.self, SetBirthdate.self, AddMember.self, Invite.self,
          RemoveDevice.self, RemoveMember.self, SetAgeSharing.self, SetCeiling.self,
          ForgetAge.self, Sandbox.self,
        ]),
    ])

  struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make the keys of a relay and of its administrator; keys that are there stay.")
    @Option(help: "The relay's folder; it is made with mode 0700.") var directory: String
    @Option(help: "Where devices send requests; by default a unix socket in the folder.")
    var requests: String?
    @Option(help: "Where devices hear broadcasts; by default a unix socket in the folder.")
    var broadcasts: String?

    func validate() throws { try Endpoint.check(requests, broadcasts) }

    func run() throws {
      let folder = URL(fileURLWithPath: directory)
      _ = try RelayKeys.create(in: folder, requests: requests, broadcasts: broadcasts)
      let file = AdministratorCredential.file(in: folder)
      var endpoints = ""
      // An administrator may have taken the credential to another machine.
      if FileManager.default.fileExists(atPath: file.path) {
        let credential = try AdministratorCredential.read(from: file)
        for (name, wanted, kept, usual) in [
          ("--requests", requests, credential.requests, RelayKeys.requests(in: folder)),
          ("--broadcasts", broadcasts, credential.broadcasts, RelayKeys.broadcasts(in: folder)),
        ] {
          guard wanted ?? kept == kept else {
            throw ControlError(
              "The keys in \(folder.path) are for \(name) \(kept), and so are all credentials made with"
                + " them. For \(wanted!) choose another --directory.")
          }
          if kept != usual { endpoints += " \(name) \(kept)" }
        }
      }
      print(
        "The keys are in \(folder.path) (0600). Next: relay --directory \(directory)\(endpoints)")
    }
  }

  struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Write an example file of families.")
    @Option(help: "How many families.") var families = 3

    func validate() throws {
      guard 1...1_000_000 ~= families else { throw ValidationError("--families is 1 to 1000000.") }
    }

    func run() throws { print(try FamilyFile.example(families: families).yaml(), terminator: "") }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Look for mistakes in a file of families; nothing is changed.")
    @Argument(help: "A YAML or JSON file of families.") var file: String

    func run() throws {
      let families = try FamilyFile.read(file)
      let errors = families.errors()
      for error in errors { print(error) }
      guard errors.isEmpty else { throw ExitCode(1) }
      print("\(families.families.count) families, no mistakes.")
    }
  }

  struct Apply: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make the families of a file at the running relay, and their credential files.",
      discussion: "Safe to run again: keys that are there stay, and only what differs is changed. "
        + "Who joined by invitation stays, and so does who was taken out of the file, "
        + "unless --prune is given.")
    @Argument(help: "A YAML or JSON file of families.") var file: String
    @Option(help: "The relay's folder, or another with its administrator.json.")
    var directory: String
    @Option(help: "The folder for the credential files.") var credentials: String
    @Flag(help: "Take out members and devices that are not in the file.") var prune = false

    func run() throws {
      let file = try FamilyFile.read(file)
      guard file.errors().isEmpty else {
        throw FamilyFileError(description: file.errors().map(\.description).joined(separator: "\n"))
      }
      let administrator = try AdministratorCredential.read(
        from: AdministratorCredential.file(in: URL(fileURLWithPath: directory)))
      let folder = URL(fileURLWithPath: credentials)
      var setUp = try SetUp(administrator, credentials: folder, prunes: prune)
      for family in file.families { try setUp.apply(family) }
      let count = file.families.count
      print(
        "\(count) \(count == 1 ? "family" : "families"); the devices' credentials are in"
          + " \(folder.path) (0600).")
    }
  }
}
