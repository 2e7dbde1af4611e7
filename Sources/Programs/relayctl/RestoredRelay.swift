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

  /// Whether a record belongs to the restored ones.
  ///
  /// A damaged event has no known time and belongs to them, so that its loss shows.
  ///
  /// - Parameter number: The number of events up to the record.
  func includes(_ record: LogRecord, number: Int) -> Bool {
    switch self {
    case .end: return true
    case .events(let last): return number <= last
    case .time(let time):
      guard case .event(let event) = record else { return true }
      return event.at <= time
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
  /// The content of the folder, for people.
  let text: String
  /// `nil` for a whole store.
  let damage: RestoredDamage?

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
    damage = try RestoredDamage(of: store)
    if let damage {
      let note = BackupContent.store + SQLiteEventStore.damageNote
      try PrivateFile.write(
        Data("\(damage.text)\n".utf8), to: folder.appendingPathComponent(note))
    }
    if case .events(let last) = moment, store.events < last {
      throw ControlError("The backup has only \(store.events) events.")
    }
    text =
      "The backup of \(Self.date(preamble)) has \(preamble.events) events."
      + (replay.segments == 0
        ? "" : " Its segments continue it to \(store.events) events.")
      + replay.damagedEnd
  }

  private static func date(_ preamble: ArchivePreamble) -> String {
    Date(timeIntervalSince1970: preamble.completed).ISO8601Format()
  }

  /// The replay of segments into a store.
  private struct Replay {
    private static let recordsPerCommit = 1_024

    let store: SQLiteEventStore
    let moment: RestoredMoment
    /// Segments that were read.
    private(set) var segments = 0
    /// Damaged events behind the last whole one.
    private var damagedAtEnd = 0
    private var isComplete = false
    /// The damaged events that a time includes at its end, for people.
    var damagedEnd: String {
      guard case .time = moment, damagedAtEnd > 0 else { return "" }
      return " The last \(damagedAtEnd) records are damaged and have no known time. "
        + "`--until \(store.events - damagedAtEnd)` leaves them out."
    }

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

    /// Replays the records up to the moment.
    private mutating func add(_ records: [LogRecord]) throws {
      var number = store.events
      let included = records.prefix { record in
        switch record {
        case .event, .damaged: number += 1
        case .passcodeLock, .damagedLock: break
        }
        return moment.includes(record, number: number)
      }
      isComplete = included.count < records.count
      for record in included {
        switch record {
        case .event: damagedAtEnd = 0
        case .damaged: damagedAtEnd += 1
        case .passcodeLock, .damagedLock: break
        }
      }
      for start in stride(from: 0, to: included.count, by: Self.recordsPerCommit) {
        try store.replay(included.dropFirst(start).prefix(Self.recordsPerCommit))
      }
    }
  }
}
