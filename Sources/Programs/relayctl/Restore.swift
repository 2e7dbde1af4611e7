import ArgumentParser
import BackupArchive
import Credentials
import Foundation
import PrivateFiles
import RelayStore
import SQLiteStore

struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read a backup as a whole, and check each record of its store.",
    discussion: "The decrypted store lies in a temporary folder beside the backup meanwhile.")
  @Argument(help: "The backup.") var backup: String
  @Option(help: "The file of `relayctl backup-key`.") var key: String

  func run() throws {
    let archive = URL(fileURLWithPath: backup)
    let scratch = archive.deletingLastPathComponent()
      .appendingPathComponent("verify-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: scratch) }
    print(
      "\(try RestoredRelay(archive, key: key, to: scratch).text) The backup is whole.".printable)
  }
}

struct Restore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a backup's relay to a new folder, after a check of each record.",
    discussion: "Stop the lost relay first: two relays with the same keys show families two "
      + "histories. Devices notice the restored one, and give back what it lost.")
  @Argument(help: "The backup.") var backup: String
  @Option(help: "The file of `relayctl backup-key`.") var key: String
  @Option(help: "The new folder of the relay.") var directory: String

  func run() throws {
    let folder = URL(fileURLWithPath: directory)
    guard !FileManager.default.fileExists(atPath: folder.path) else {
      throw ControlError("'\(folder.path)' exists. Choose another --directory.".printable)
    }
    // The folder appears only when it is whole.
    let partial = folder.appendingPathExtension("partial")
    try? FileManager.default.removeItem(at: partial)
    let relay: RestoredRelay
    do { relay = try RestoredRelay(URL(fileURLWithPath: backup), key: key, to: partial) } catch {
      try? FileManager.default.removeItem(at: partial)
      throw error
    }
    try FileManager.default.moveItem(at: partial, to: folder)
    print("\(relay.text) Next: relay --directory \(directory)".printable)
  }
}

/// A relay's folder from a backup, checked.
private struct RestoredRelay {
  let text: String

  init(_ archive: URL, key: String, to folder: URL) throws {
    let key = try BackupKey(file: URL(fileURLWithPath: key))
    try PrivateFile.createFolder(folder)
    let header = try ArchiveReader.extract(archive, key: key, to: folder)
    _ = try RelayKeys.read(from: folder)
    let store = try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path)
    defer { store.close() }
    try store.check(whole: .max)
    let date = Date(timeIntervalSince1970: header.completed).ISO8601Format()
    text = "The backup of \(date) has \(store.events) events."
  }
}
