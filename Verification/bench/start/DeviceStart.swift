import ArgumentParser
import DeviceAgent
import DeviceTurn
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import Processes
import SQLiteStore
import ZeroMQ

/// The figures of one start.
struct StartFigures: Codable {
  /// Milliseconds from before the store is opened until the machine is ready.
  var milliseconds: Double
  /// Growth of the resident memory from before the store is opened, without free memory.
  var bytes: Int
  /// The largest growth of the resident memory at any time.
  var peakBytes: Int
  /// The same after the settled history has moved to its file.
  var settledBytes: Int
  /// Milliseconds of the move.
  var moveMilliseconds: Double
  /// The events after the snapshot, which the start verified.
  var later: Int
}

/// Starts one device in a process of its own, for `bench start` only.
///
/// A second start in one process would find memory that the first one has freed.
struct DeviceStart: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device-start", abstract: "Start one device.", shouldDisplay: false)
  @Option var store: String
  @Option var device: UInt32

  func run() throws {
    Context.returnLargeMemory()
    let before = Self.residentBytes
    let start = MonotonicInstant.now
    let store = try SQLiteAgentStore(path: store)
    let folder = URL(fileURLWithPath: self.store).deletingLastPathComponent()
    let history = HistoryFile(in: folder) { fatalError($0) }
    let (hosted, later) = try hostedDevice(store, history)
    let time = MonotonicInstant.now - start
    guard !hosted.link.hasIgnoredSnapshot, hosted.link.personID == PersonID(device) else {
      throw SnapshotIgnored()
    }
    Context.releaseFreeMemory()
    let bytes = Self.residentBytes - before
    let move = MonotonicInstant.now
    hosted.moveHistory(to: history)
    let moveTime = MonotonicInstant.now - move
    let figures = try withExtendedLifetime(hosted) {
      Context.releaseFreeMemory()
      return try JSONEncoder().encode(
        StartFigures(
          milliseconds: time.seconds * 1e3, bytes: bytes,
          peakBytes: (ProcessReading.peakResidentBytes ?? 0) - before,
          settledBytes: Self.residentBytes - before, moveMilliseconds: moveTime.seconds * 1e3,
          later: later))
    }
    FileHandle.standardOutput.write(figures)
    store.close()
  }

  /// The device, and the number of events after its snapshot. Only the device holds the snapshot. A
  /// device that makes a new one moves its history at once, as the second machine of an agent does.
  private func hostedDevice(_ store: SQLiteAgentStore, _ history: HistoryFile) throws
    -> (HostedDevice, later: Int)
  {
    let (records, snapshot) = try store.recordsAfterSnapshot(
      of: StartFamily.address(device), StartFamily.snapshots(of: device))
    let later = records.count { if case .event = $0 { true } else { false } }
    let isDue = later >= Limits.snapshotInterval + Limits.snapshotMargin
    let storage = isDue ? history : nil
    let verified = SignatureCache()
    let key = Device.curveKey(device)
    let hosted =
      device == StartFamily.child
      ? HostedDevice(
        StartFamily.childMachine(
          records, verified, .system, opened: snapshot, storage: storage), key: key)
      : HostedDevice(
        StartFamily.guardianMachine(
          records, verified, .system, opened: snapshot, storage: storage), key: key)
    return (hosted, later)
  }

  private static var residentBytes: Int { ProcessReading(getpid())?.residentBytes ?? 0 }

  /// The start verified all events, so its time is that of another path.
  struct SnapshotIgnored: Error, CustomStringConvertible {
    let description = "The device ignored its snapshot."
  }
}
