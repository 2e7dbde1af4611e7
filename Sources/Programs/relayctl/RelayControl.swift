import ArgumentParser
import Credentials
import FamilyModel
import Foundation
import ProgramOptions

/// The command-line tool of the relay's operator and of guardians.
@main
struct RelayControl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relayctl",
    abstract: "Set up a relay and its families, inspect them, and act as a guardian.",
    discussion:
      "The operator's commands take --directory RELAY; a guardian's commands take --as CREDENTIAL.",
    version: Program.version,
    groupedSubcommands: [
      CommandGroup(
        name: "Setup",
        subcommands: [Init.self, Generate.self, Check.self, Apply.self, AddPerson.self]),
      CommandGroup(
        name: "Operator",
        subcommands: [
          Top.self, Families.self, Members.self, Devices.self, Regions.self, MakeBackupKey.self,
          Backup.self, Ship.self, Verify.self, Restore.self, CheckStore.self, Export.self,
          Webhooks.self,
        ]),
      CommandGroup(
        name: "Guardian inspection",
        subcommands: [
          Pending.self, History.self, Known.self, Explain.self, Apps.self, Ages.self, Settings.self,
          ShowWebRules.self, ShowWebReport.self,
          ShowFamily.self,
        ]),
      CommandGroup(
        name: "Guardian action",
        subcommands: [
          AnswerQuestion.self, Post.self, SetLimits.self, ChangeContact.self, Withdraw.self,
          GiveConsent.self,
          SetPasscode.self, AddChild.self, Onboard.self, SetBirthdate.self, AddMember.self,
          Invite.self,
          RemoveDevice.self, RemoveMember.self, SetAgeSharing.self, SetCeiling.self,
          ForgetAge.self, Sandbox.self, SetWebRule.self, SetCommunicationSafety.self,
          SetWebReport.self, DeleteWebReport.self,
        ]),
    ])

  static func main() async { await Program.run(Self.self, status: ExitStatus.init(of:)) }

  struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create the keys of a relay and its administrator. Existing keys are kept.")
    @Option(help: "The relay's folder (created with mode 0700).") var directory: String
    @Option(help: "The endpoint for requests (default: a Unix socket in the folder).")
    var requests: String?
    @Option(help: "The endpoint for broadcasts (default: a Unix socket in the folder).")
    var broadcasts: String?

    func validate() throws {
      try Endpoint.check(requests, broadcasts)
      try Endpoint.checkDistinct(requests, broadcasts)
    }

    func run() throws {
      let folder = URL(fileURLWithPath: directory)
      _ = try RelayKeys.create(in: folder, requests: requests, broadcasts: broadcasts)
      let file = AdministratorCredential.file(in: folder)
      var endpoints = ""
      // The administrator may have moved the credential to another machine.
      if FileManager.default.fileExists(atPath: file.path) {
        let credential = try AdministratorCredential.read(from: file)
        for (name, wanted, kept, usual) in [
          ("--requests", requests, credential.requests, RelayKeys.requests(in: folder)),
          ("--broadcasts", broadcasts, credential.broadcasts, RelayKeys.broadcasts(in: folder)),
        ] {
          guard wanted ?? kept == kept else {
            throw ControlError(
              "The keys in '\(folder.path)' and their credentials are for \(name) \(kept). To use "
                + "'\(wanted!)', choose another --directory.")
          }
          if kept != usual { endpoints += " \(name) \(kept)" }
        }
      }
      print(
        "The keys are in \(folder.path) (mode 0600). "
          + "Next: relay --directory \(directory)\(endpoints)")
    }
  }

  struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print an example family file.")
    @Option(help: "The number of families.") var families = 3

    func validate() throws {
      guard 1...1_000_000 ~= families else {
        throw ValidationError("--families takes 1 to 1000000, not '\(families)'.")
      }
    }

    func run() throws { print(try FamilyFile.example(families: families).yaml(), terminator: "") }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Check a family file for errors without changing anything.")
    @Argument(help: "A family file in YAML or JSON.") var file: String
    @Flag(help: "Print the families as JSON.") var json = false

    func run() throws {
      let file = try FamilyFile.read(file)
      let errors = file.errors()
      guard errors.isEmpty else {
        throw FamilyFileError(errors.map(\.description).joined(separator: "\n"))
      }
      if json { return print(String(decoding: try JSONEncoder().encode(file), as: UTF8.self)) }
      print("The file describes \(file.countText) and has no errors.")
    }
  }

  struct Apply: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create or update the families of a file, and write their credential files.",
      discussion: "The relay must be running. Applying the same file again is safe: existing keys "
        + "are kept, and only differences are applied. Members and devices that are not in the "
        + "file are kept, too, unless --prune is given.")
    @Argument(help: "A family file in YAML or JSON.") var file: String
    @Option(help: "The folder with administrator.json, usually the relay's.")
    var directory: String
    @Option(help: "The folder for the credential files.") var credentials: String
    @Flag(help: "Remove members and devices that are not in the file.") var prune = false

    func run() throws {
      let file = try FamilyFile.read(file)
      guard file.errors().isEmpty else {
        throw FamilyFileError(file.errors().map(\.description).joined(separator: "\n"))
      }
      let administrator = try AdministratorCredential.read(
        from: AdministratorCredential.file(in: URL(fileURLWithPath: directory)))
      let folder = URL(fileURLWithPath: credentials)
      var setUp = try SetUp(administrator, credentials: folder, prunes: prune)
      do { for family in file.families { try setUp.apply(family) } } catch let problem as Problem {
        throw ControlError(problem)
      }
      print(
        "Applied \(file.countText). The devices' credentials are in \(folder.path) (mode 0600).")
      if let next = file.firstStep(credentials: folder) { print(next.printable) }
    }
  }
}

extension FamilyFile {
  /// How to start the device of the first organizer.
  fileprivate func firstStep(credentials folder: URL) -> String? {
    guard let family = families.first,
      let organizer = family.members.first(where: { $0.role == "organizer" })
    else { return nil }
    let file = folder.appendingPathComponent("family-\(family.id)-\(organizer.fileName)-1.json")
    return "Next: parent-agent --interactive --credential '\(file.path)' --directory FOLDER"
  }

  /// The number of families with its noun: `1 family`, `3 families`.
  fileprivate var countText: String {
    "\(families.count) \(families.count == 1 ? "family" : "families")"
  }
}
