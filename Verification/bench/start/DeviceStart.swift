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
    let before = Self.residentBytes
    let start = MonotonicInstant.now
    let store = try SQLiteAgentStore(path: store)
    let (records, snapshot) = try store.recordsAfterSnapshot(
      of: StartFamily.address(device), StartFamily.snapshots(of: device))
    let hosted = hostedDevice(records, snapshot)
    let later = records.count { if case .event = $0 { true } else { false } }
    let time = MonotonicInstant.now - start
    guard !hosted.link.hasIgnoredSnapshot, hosted.link.personID == PersonID(device) else {
      throw SnapshotIgnored()
    }
    Context.releaseFreeMemory()
    let bytes = Self.residentBytes - before
    let folder = URL(fileURLWithPath: self.store).deletingLastPathComponent()
    let history = HistoryFile(in: folder) { fatalError($0) }
    let move = MonotonicInstant.now
    hosted.moveHistory(to: history)
    let moveTime = MonotonicInstant.now - move
    let figures = try withExtendedLifetime(hosted) {
      Context.releaseFreeMemory()
      return try JSONEncoder().encode(
        StartFigures(
          milliseconds: time.seconds * 1e3, bytes: bytes,
          settledBytes: Self.residentBytes - before, moveMilliseconds: moveTime.seconds * 1e3,
          later: later))
    }
    FileHandle.standardOutput.write(figures)
    store.close()
  }

  private func hostedDevice(_ records: [DeviceRecord], _ snapshot: OpenedSnapshot?)
    -> HostedDevice
  {
    let verified = SignatureCache()
    let key = Device.curveKey(device)
    return device == StartFamily.child
      ? HostedDevice(
        StartFamily.childMachine(records, verified, .system, opened: snapshot), key: key)
      : HostedDevice(
        StartFamily.guardianMachine(records, verified, .system, opened: snapshot), key: key)
  }

  private static var residentBytes: Int { ProcessReading(getpid())?.residentBytes ?? 0 }

  /// The start verified all events, so its time is that of another path.
  struct SnapshotIgnored: Error, CustomStringConvertible {
    let description = "The device ignored its snapshot."
  }
}
