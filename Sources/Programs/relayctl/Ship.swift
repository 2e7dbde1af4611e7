import ArgumentParser
import BackupArchive
import Credentials
import Foundation
import PrivateFiles
import ProgramOptions
import RelayOperation

struct Ship: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Continue a backup of a running relay with the events since, in encrypted segments.",
    discussion:
      "The first run writes a backup to the folder. Each further run, and each interval with "
      + "--follow, adds segments. Run this as the relay's user, on the relay's machine. A run that was "
      + "killed is continued by the next one.")
  @OptionGroup var relay: BackupOptions
  @Option(help: "The folder of the series (created with mode 0700).") var to: String
  @Flag(help: "Continue until a signal.") var follow = false
  @Option(help: "Seconds between two segments, with --follow.") var interval = 60

  func validate() throws {
    guard 1...86_400 ~= interval else {
      throw ValidationError("--interval takes 1 to 86400, not '\(interval)'.")
    }
  }

  func run() async throws {
    let shipper = try Shipper(relay, to: URL(fileURLWithPath: to))
    while true {
      do {
        let end = try await shipper.ship()
        if !follow {
          print(
            "The series has \(end.events) events, up to \(ArchiveSeries.name(end.number)). Next: "
              + "relayctl verify --key FILE \(to)".printable)
          return
        }
      } catch let error as OperatorError where follow && error.isSilence {
        // A relay that restarts is no reason to end.
        FileHandle.standardError.write(Data("\(error)\n".utf8))
      }
      try await Task.sleep(for: .seconds(interval))
    }
  }
}

/// Appends a relay's log to a series.
///
/// The files of the series are the shipper's only state: its position is the preamble of the last file. A file
/// appears when it is whole and synced, so a kill at any moment loses nothing and repeats nothing.
struct Shipper {
  /// Bytes after which a segment ends. The content of a segment is in memory.
  static let segmentBytes = 16 << 20
  /// A pause takes this many times the request before it, so that commits get most of the time.
  static let pauseFactor = 3

  private let relay: BackupOptions
  private let folder: URL
  /// Held as long as the shipper lives: no second one appends to the series.
  private let lock: FolderLock

  init(_ relay: BackupOptions, to folder: URL) throws {
    self.relay = relay
    self.folder = folder
    try PrivateFile.createFolder(folder)
    lock = try FolderLock(
      folder,
      orThrow: "Another `relayctl ship` uses '\(folder.path)'. Stop it, or choose another --to.")
  }

  /// Appends all events of the relay's log to the series, and begins the series if necessary.
  ///
  /// - Returns: The preamble of the last file.
  func ship() async throws -> ArchivePreamble {
    let recipient = try ArchiveWriter.recipient(relay.publicKey)
    try removePartialFiles()
    if try ArchiveSeries(folder).end() == nil {
      try await relay.writeBackup(to: folder.appendingPathComponent(ArchiveSeries.name(0)))
    }
    while true {
      let series = try ArchiveSeries(folder)
      guard let end = try series.end() else { throw ControlError("The series has no backup.") }
      let segment = try await collect(after: LogPosition(end))
      let completed = Date().timeIntervalSince1970
      guard !segment.content.isEmpty,
        let preamble = try series.next(
          events: segment.end.events, checksum: segment.end.checksum, completed: completed)
      else { return end }
      try ArchiveWriter.write(
        segment: segment.content, preamble: preamble, program: Program.version,
        to: folder.appendingPathComponent(ArchiveSeries.name(preamble.number)),
        recipient: recipient,
        secret: SegmentSecret(RelayKeys.read(from: relay.folder).channelSecret))
    }
  }

  /// The records of the next segment.
  ///
  /// - Parameter position: The end of the series.
  private func collect(after position: LogPosition) async throws
    -> (content: Data, end: LogPosition)
  {
    let client = try OperatorClient(directory: relay.socket)
    var (content, end) = (Data(), position)
    while content.count < Self.segmentBytes {
      let begin = ContinuousClock.now
      let part = try client.log(after: end, isDurable: end == position)
      content += part.records
      end = part.position
      if part.isNewest { break }
      try await Task.sleep(for: (ContinuousClock.now - begin) * Self.pauseFactor)
    }
    return (content, end)
  }

  private func removePartialFiles() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasSuffix(".partial") {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }
}

extension LogPosition {
  /// The end of a file.
  fileprivate init(_ preamble: ArchivePreamble) {
    self.init(events: preamble.events, checksum: preamble.checksum)
  }
}
