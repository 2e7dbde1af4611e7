import FamilyModel
import Foundation
import Synchronization
import TestDisk

/// Records a store's writes and syncs of its file and log, and builds the files that a crash at any
/// moment leaves.
///
/// Precondition: only one recording runs at a time.
final class RecordedDisk {
  enum Step: Sendable {
    case write(file: Int, offset: Int, bytes: [UInt8])
    /// All writes to the file before the step with this index are on disk.
    case synced(file: Int, before: Int)
    /// This commit returned.
    case acknowledged(Int)
  }

  private struct Recording {
    var steps: [Step] = []
    /// Delays checkpoints at random, so that they interleave with commits in many ways.
    var delays: IDSource
  }

  private static let recording = Mutex<Recording?>(nil)

  private let base: [Data]
  private(set) var steps: [Step] = []
  /// The file and its log.
  let inodes: [ino_t]

  /// Starts the recording.
  ///
  /// - Parameter held: The bytes of the file and its log on disk (default: their present content).
  init(_ path: String, seed: UInt64, held: [Data]? = nil) throws {
    let paths = [path, path + "-wal"]
    base = try held ?? paths.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    Self.recording.withLock { $0 = Recording(delays: IDSource(seed: seed)) }
    inodes = paths.map { path in
      var status = stat()
      stat(path, &status)
      return status.st_ino
    }
    watch_disk(inodes[0], inodes[1]) { file, step, offset, bytes, length in
      RecordedDisk.record(
        Int(file), step, offset, UnsafeRawBufferPointer(start: bytes, count: length))
    }
  }

  /// - Parameter offsetOrIndex: The offset of a write, or the number of steps before a sync
  ///   started.
  private static func record(
    _ file: Int, _ step: disk_step, _ offsetOrIndex: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Int {
    let (result, delay) = recording.withLock { recording -> (Int, UInt64) in
      guard recording != nil else { return (0, 0) }
      let count = recording!.steps.count
      switch step {
      case DISK_WRITE:
        recording!.steps.append(.write(file: file, offset: offsetOrIndex, bytes: [UInt8](bytes)))
      case DISK_SYNC_BEGINS: break
      default: recording!.steps.append(.synced(file: file, before: offsetOrIndex))
      }
      // Only checkpoints write to the first file.
      return (count, file == 0 ? recording!.delays.next() % 8 : 0)
    }
    if delay == 1 { usleep(300) }
    return result
  }

  func acknowledge(_ commit: Int) {
    Self.recording.withLock { $0?.steps.append(.acknowledged(commit)) }
  }

  func stop() {
    watch_disk(0, 0, nil)
    steps = Self.recording.withLock { $0.take() }?.steps ?? []
  }

  /// Number of restarts of the log.
  var logRestarts: Int { steps.count { if case .write(1, 0, _) = $0 { true } else { false } } }
  /// Number of pages that checkpoints wrote into the file.
  var copiedPages: Int { steps.count { if case .write(0, _, _) = $0 { true } else { false } } }

  /// The last commit that was acknowledged in the first `count` steps.
  func acknowledged(of count: Int) -> Int {
    steps[..<count].reduce(0) { if case .acknowledged(let commit) = $1 { commit } else { $0 } }
  }

  /// Writes the files that a crash after `count` steps leaves to `path`.
  ///
  /// A kill keeps every write. A power cut keeps all synced writes and random sectors of the
  /// others.
  func crash(after count: Int, powerCut: Bool, _ random: inout IDSource, to path: String) throws {
    var files = base.map { [UInt8]($0) }
    var synced = [0, 0]
    for case .synced(let file, let before) in steps[..<count] {
      synced[file] = max(synced[file], before)
    }
    for (index, step) in steps[..<count].enumerated() {
      guard case .write(let file, let offset, let bytes) = step else { continue }
      let isKept = !powerCut || index < synced[file]
      for start in stride(from: 0, to: bytes.count, by: 512) where isKept || random.next() & 1 == 0
      {
        let sector = bytes[start..<min(start + 512, bytes.count)]
        let end = offset + start + sector.count
        if files[file].count < end {
          files[file] += Array(repeating: 0, count: end - files[file].count)
        }
        files[file].replaceSubrange(offset + start..<end, with: sector)
      }
    }
    for (file, suffix) in zip(files, ["", "-wal"]) {
      try Data(file).write(to: URL(fileURLWithPath: path + suffix))
    }
  }
}
