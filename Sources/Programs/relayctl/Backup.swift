import ArgumentParser
import BackupArchive
import Foundation
import PrivateFiles
import ProgramOptions
import RelayOperation

/// The files of a relay's folder that a backup holds.
private enum BackupContent {
  static let keys = "relay.json"
  static let store = "relay.sqlite"
}

struct MakeBackupKey: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup-key",
    abstract: "Create the key that reads backups, and print its public part.",
    discussion: "Keep the file away from the relay's machine, for example in a safe. Without it no "
      + "backup can be read.")
  @Option(help: "The new file.") var file: String

  func run() throws {
    let file = URL(fileURLWithPath: file)
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw ControlError("'\(file.path)' exists. Choose another --file.".printable)
    }
    let key = BackupKey()
    try key.write(to: file)
    print(key.publicText)
  }
}

struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write an encrypted backup of a running relay: its store and its keys.",
    discussion: "Run this as the relay's user, on the relay's machine. The copy has each commit "
      + "before the command's end.")
  @Option(help: "The relay's folder.") var directory: String
  @Option(help: "The folder of `relay --operator` (default: the relay's folder).")
  var `operator`: String?
  @Option(help: "The new file of the backup.") var to: String
  @Option(help: "The key that `relayctl backup-key` printed.") var publicKey: String

  /// How often the state of the copy is requested.
  private static let pollInterval = Duration.milliseconds(200)

  func run() async throws {
    let target = URL(fileURLWithPath: to)
    guard !FileManager.default.fileExists(atPath: target.path) else {
      throw ControlError("'\(target.path)' exists. Choose another --to.".printable)
    }
    // An invalid key must not cost a copy.
    let recipient = try ArchiveWriter.recipient(publicKey)
    let folder = URL(fileURLWithPath: directory)
    let socket = `operator`.map { URL(fileURLWithPath: $0) } ?? folder
    var state = try OperatorClient(directory: socket).beginBackup()
    let id = state.id
    while state.isUnderWay {
      try await Task.sleep(for: Self.pollInterval)
      state = try OperatorClient(directory: socket).backup()
      guard state.id == id else {
        throw ControlError("The relay was restarted during the copy. Repeat the command.")
      }
    }
    let copy = URL(fileURLWithPath: state.path)
    defer { try? FileManager.default.removeItem(at: copy) }
    guard let completed = state.completed else {
      throw ControlError(
        "The copy failed: \(state.failure ?? ""). Make room on the relay's disk, and repeat."
          .printable)
    }
    let keys = folder.appendingPathComponent(BackupContent.keys)
    try ArchiveWriter.write(
      [(BackupContent.keys, keys), (BackupContent.store, copy)], completed: completed,
      program: Program.version, to: target, recipient: recipient)
    print("The backup is \(target.path). Next: relayctl verify --key FILE \(target.path)".printable)
  }
}
