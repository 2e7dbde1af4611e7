import Credentials
import FamilyModel
import Foundation
import LoadFamilies

/// The families of a crowd and the workers that host their devices.
///
/// A family's child and its guardians are on different workers, so that one of them can die alone.
struct CrowdPlan: Sendable {
  /// The first number of a crowd's families, above those of the other families.
  static let first: UInt64 = 1_001
  /// Families whose devices of one role share a connection.
  static let perConnection: UInt64 = 25

  var seed: UInt64
  /// The number of families.
  var families: Int
  /// The number of worker processes.
  var workers: Int

  var factory: FamilyFactory {
    FamilyFactory(seed: seed, guardians: 2, perConnection: Self.perConnection)
  }

  var range: ClosedRange<UInt64> { Self.first...(Self.first + UInt64(families) - 1) }

  /// The names of the workers.
  var names: [String] { (0..<workers).map { "crowd-\($0 + 1)" } }

  /// The worker that hosts the device.
  func worker(of address: DeviceAddress) -> Int {
    let block = Int((address.family.rawValue - 1) / Self.perConnection)
    return (address.device == FamilyFactory.child ? block : block + 1) % workers
  }

  /// The credentials of a worker's devices in these families.
  func credentials(
    _ worker: Int, _ families: ClosedRange<UInt64>, relay: AdministratorCredential
  ) -> [Credential] {
    factory.credentials(families, relay: relay).filter { self.worker(of: $0.address) == worker }
  }

  /// The family from whose devices a worker's recovery is measured.
  func sample(_ worker: Int) -> UInt64 {
    range.first {
      self.worker(of: DeviceAddress(family: FamilyID($0), device: FamilyFactory.child)) == worker
    } ?? range.lowerBound
  }
}

/// The state of a worker's devices, which the worker writes several times a second.
struct CrowdStatus: Codable {
  /// A device of the worker's sample.
  struct Sample: Codable {
    var family: UInt64
    var device: UInt32
    /// The sum of the cursors of all audiences.
    var position: UInt64
  }
  /// The worker's process.
  var process: Int32
  var devices = 0
  var connected = 0
  /// Commands that the relay has not acknowledged.
  var outbox = 0
  /// Entries that apps have not acknowledged.
  var unacknowledged = 0
  /// The sum of all devices' positions.
  var position: UInt64 = 0
  var samples: [Sample] = []

  static func file(in folder: URL) -> URL { folder.appendingPathComponent("crowd.json") }

  static func read(in folder: URL) -> CrowdStatus? {
    guard let data = try? Data(contentsOf: file(in: folder)) else { return nil }
    return try? JSONDecoder().decode(Self.self, from: data)
  }

  func write(in folder: URL) throws {
    try JSONEncoder().encode(self).write(to: Self.file(in: folder), options: .atomic)
  }

  /// The unfinished work; `nil` for none.
  var unfinished: String? {
    if connected < devices { return "\(devices - connected) devices are not connected" }
    if outbox > 0 { return "devices have \(outbox) commands to send" }
    if unacknowledged > 0 { return "apps have not acknowledged \(unacknowledged) entries" }
    return nil
  }
}
