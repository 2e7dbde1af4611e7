import BackupArchive
import Credentials
import FamilyModel
import Foundation
import PrivateFiles
import RelayStore
import SQLiteStore

/// The last event that is restored.
enum RestoredMoment {
  /// The last one of the series.
  case end
  /// The one with this number, in the relay's order of arrival.
  case events(Int)
  /// The one before the first later one. The relay's clock gave the events their times.
  case time(Instant)

  /// Whether an event belongs to the restored ones.
  func includes(_ number: Int, _ event: StoredEvent) -> Bool {
    switch self {
    case .end: true
    case .events(let last): number <= last
    case .time(let time): event.at <= time
    }
  }

  /// Whether the backup, which cannot be divided, is later.
  func isBefore(_ backup: ArchivePreamble) -> Bool {
    switch self {
    case .end: false
    case .events(let last): last < backup.events
    case .time(let time): Double(time.milliseconds) < backup.completed * 1_000
    }
  }
}

/// A relay's folder from a backup or a series, checked.
struct RestoredRelay {
  /// Events of one commit.
  private static let eventsPerCommit = 1_024

  /// The content of the folder, for people.
  let text: String
  /// The families that the backup has with damaged records, because the relay's store had them.
  let damaged: [FamilyID]
  /// The damaged families, for people; `nil` without any.
  var warning: String? {
    guard !damaged.isEmpty else { return nil }
    let names = damaged.map { "\($0.rawValue)" }.joined(separator: ", ")
    return "Records of these families are damaged: \(names). The relay refuses them, and "
      + "`relayctl export` saves what is whole."
  }

  /// - Parameter source: The file of a backup, or the folder of a series.
  init(_ source: URL, key: String, to folder: URL, until moment: RestoredMoment) throws {
    let key = try BackupKey(file: URL(fileURLWithPath: key))
    var isFolder: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: source.path, isDirectory: &isFolder)
    let series = isFolder.boolValue ? try ArchiveSeries(source) : nil
    if let series, series.files.isEmpty {
      try series.checkGap()
      throw ControlError("'\(source.path)' has no backup.".printable)
    }
    try PrivateFile.createFolder(folder)
    let preamble = try ArchiveReader.extract(series?.files[0] ?? source, key: key, to: folder)
    guard !moment.isBefore(preamble) else {
      throw ControlError(
        "The backup of \(Self.date(preamble)) with \(preamble.events) events is later. Use an earlier one."
      )
    }
    let secret = SegmentSecret(try RelayKeys.read(from: folder).channelSecret)
    let store = try SQLiteEventStore(
      path: folder.appendingPathComponent(BackupContent.store).path)
    defer { store.close() }
    guard store.events == preamble.events else {
      throw ControlError("The backup's store has \(store.events) events, not \(preamble.events).")
    }
    var replay = Replay(store, until: moment)
    if let series { try replay.run(series, key: key, secret: secret) }
    let damage = try store.findDamage(whole: .max)
    if damage.isIndexDamaged { try store.rebuildIndex() }
    damaged = damage.families.keys.sorted()
    if case .events(let last) = moment, store.events < last {
      throw ControlError("The backup has only \(store.events) events.")
    }
    text =
      "The backup of \(Self.date(preamble)) has \(preamble.events) events."
      + (replay.segments == 0
        ? "" : " Its segments continue it to \(store.events) events.")
  }

  private static func date(_ preamble: ArchivePreamble) -> String {
    Date(timeIntervalSince1970: preamble.completed).ISO8601Format()
  }

  /// The replay of segments into a store.
  private struct Replay {
    let store: SQLiteEventStore
    let moment: RestoredMoment
    /// Segments that were read.
    private(set) var segments = 0
    private var isComplete = false
    private var batch = Batch()

    init(_ store: SQLiteEventStore, until moment: RestoredMoment) {
      self.store = store
      self.moment = moment
    }

    /// Replays the segments up to the moment. Later ones are not read.
    mutating func run(_ series: ArchiveSeries, key: BackupKey, secret: SegmentSecret) throws {
      _ = try series.checkLink(0)
      for number in series.files.indices.dropFirst() where !isComplete {
        if case .events(store.events) = moment { return }
        let preamble = try series.checkLink(number)
        let content = try ArchiveReader.content(
          ofSegment: series.files[number], key: key, secret: secret)
        guard let records = LogRecord.read(content) else {
          throw ControlError("\(series.files[number].path) has no records.".printable)
        }
        try add(records)
        segments += 1
        guard isComplete || store.events == preamble.events else {
          throw ControlError(
            "\(series.files[number].path) has another number of events.".printable)
        }
      }
      if case .events(store.events) = moment { return }
      if !isComplete { try series.checkGap() }
    }

    /// Commits the records up to the moment.
    private mutating func add(_ records: [LogRecord]) throws {
      var number = store.events
      for record in records {
        switch record {
        case .event(let event):
          number += 1
          isComplete = !moment.includes(number, event)
          if !isComplete { batch.events.append(event) }
        case .passcodeLock(let lock): batch.passcodeLocks.append(lock)
        }
        if isComplete { break }
        if batch.events.count >= Self.eventsPerCommit { try commit() }
      }
      try commit()
    }

    private mutating func commit() throws {
      try store.commit(batch)
      batch.removeAll()
    }

    private static let eventsPerCommit = RestoredRelay.eventsPerCommit
  }
}
