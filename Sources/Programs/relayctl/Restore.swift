import ArgumentParser
import BackupArchive
import FamilyModel
import Foundation
import PrivateFiles
import ProgramOptions

struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read a backup or a series as a whole, and check each record of its store.",
    discussion: "The decrypted store lies in a temporary folder beside the backup meanwhile.")
  @Argument(help: "The backup, or the folder of a series.") var backup: String
  @Option(help: "The file of `relayctl backup-key`.") var key: String

  func run() throws {
    let archive = URL(fileURLWithPath: backup)
    let scratch = archive.deletingLastPathComponent()
      .appendingPathComponent("verify-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let relay = try RestoredRelay(archive, key: key, to: scratch, until: .end)
    guard let damage = relay.damage else {
      return print("\(relay.text) The backup is whole.".printable)
    }
    print("\(relay.text) \(damage.text)".printable)
    throw ExitCode(ExitStatus.unreadableStore.rawValue)
  }
}

struct Restore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a backup's relay to a new folder, after a check of each record.",
    discussion: "Stop the lost relay first: two relays with the same keys show families two "
      + "histories. Devices notice the restored one, and give back what it lost.")
  @Argument(help: "The backup, or the folder of a series.") var backup: String
  @Option(help: "The file of `relayctl backup-key`.") var key: String
  @Option(help: "The new folder of the relay.") var directory: String
  @Option(
    help: .init(
      "Restore the events before the first later one, for example 2026-11-24T13:00:00Z.",
      valueName: "time"))
  var at: String?
  @Option(help: .init("Restore this number of events.", valueName: "number")) var until: Int?

  /// The moment that is restored.
  private func moment() throws -> RestoredMoment {
    if let until { return .events(until) }
    guard let at else { return .end }
    let forms = [false, true].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
    guard let time = forms.lazy.compactMap({ try? Date(at, strategy: $0) }).first else {
      throw ValidationError(
        "'\(at)' is not a time. Write it with its zone, for example 2026-11-24T13:00:00Z.")
    }
    return .time(Instant(milliseconds: Int64((time.timeIntervalSince1970 * 1_000).rounded())))
  }

  func validate() throws {
    guard at == nil || until == nil else {
      throw ValidationError("Give --at or --until, not both.")
    }
    _ = try moment()
  }

  func run() throws {
    let folder = URL(fileURLWithPath: directory)
    guard !FileManager.default.fileExists(atPath: folder.path) else {
      throw ControlError("'\(folder.path)' exists. Choose another --directory.".printable)
    }
    // The folder appears only when it is whole.
    let partial = folder.appendingPathExtension("partial")
    try? FileManager.default.removeItem(at: partial)
    let relay: RestoredRelay
    do {
      relay = try RestoredRelay(
        URL(fileURLWithPath: backup), key: key, to: partial, until: moment())
    } catch {
      try? FileManager.default.removeItem(at: partial)
      throw error
    }
    try FileManager.default.moveItem(at: partial, to: folder)
    if let damage = relay.damage { print(damage.text) }
    if case .unproven? = relay.damage {
      print("\(relay.text) Next: relayctl export --directory \(directory) --to NEW".printable)
      throw ExitCode(ExitStatus.unreadableStore.rawValue)
    }
    print("\(relay.text) Next: relay --directory \(directory)".printable)
  }
}
