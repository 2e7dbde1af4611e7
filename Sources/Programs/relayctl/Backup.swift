import ArgumentParser
import BackupArchive
import Foundation
import PrivateFiles
import ProgramOptions
import RelayOperation
import SQLiteStore

/// The files of a relay's folder that a backup holds.
enum BackupContent {
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

/// The relay that a backup is made of.
struct BackupOptions: ParsableArguments {
  @Option(help: "The relay's folder.") var directory: String
  @Option(help: "The folder of `relay --operator` (default: the relay's folder).")
  var `operator`: String?
  @Option(help: "The key that `relayctl backup-key` printed.") var publicKey: String

  var folder: URL { URL(fileURLWithPath: directory) }
  var socket: URL { `operator`.map { URL(fileURLWithPath: $0) } ?? folder }

  /// How often the state of the copy is requested.
  private static let pollInterval = Duration.milliseconds(200)

  /// Writes a backup of the running relay to a new file.
  func writeBackup(to target: URL) async throws {
    // An invalid key must not cost a copy.
    let recipient = try ArchiveWriter.recipient(publicKey)
    // The relay makes one copy at a time, in one file.
    let lock = try FolderLock(folder)
    defer { withExtendedLifetime(lock) {} }
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
    let end = try Self.end(ofStore: copy.path)
    try ArchiveWriter.write(
      [
        (BackupContent.keys, folder.appendingPathComponent(BackupContent.keys)),
        (BackupContent.store, copy),
      ],
      preamble: ArchivePreamble(
        number: 0, previous: nil, events: end.events, checksum: end.checksum, completed: completed),
      program: Program.version, to: target, recipient: recipient)
  }

  /// The end of a store's log.
  private static func end(ofStore path: String) throws -> LogPosition {
    let store = try SQLiteEventStore(path: path)
    defer { store.close() }
    let last = try store.log(after: store.events, limit: 0, bytes: 0).previous
    return LogPosition(events: store.events, checksum: last?.checksum ?? 0)
  }
}

struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write an encrypted backup of a running relay: its store and its keys.",
    discussion: "Run this as the relay's user, on the relay's machine. The copy has each commit "
      + "before the command's end.")
  @OptionGroup var relay: BackupOptions
  @Option(help: "The new file of the backup.") var to: String

  func run() async throws {
    let target = URL(fileURLWithPath: to)
    guard !FileManager.default.fileExists(atPath: target.path) else {
      throw ControlError("'\(target.path)' exists. Choose another --to.".printable)
    }
    try await relay.writeBackup(to: target)
    print("The backup is \(target.path). Next: relayctl verify --key FILE \(target.path)".printable)
  }
}
