import Credentials
import Foundation
import LoadFamilies
import ZeroMQ

/// An order to a worker, sent as one JSON line.
enum Order: Codable {
  /// Host these families.
  case host(HostingOrder)
  /// Run these arrivals.
  case run(RunOrder)
  /// The relay has ended: check the histories against its store.
  case check(store: String)
}

/// The families of a worker.
struct HostingOrder: Codable {
  /// The worker's folder.
  var directory: String
  /// The relay's folder.
  var relay: String
  /// The relay's process, which the workers end if the load is killed.
  var relayPID: Int32
  var families: ClosedRange<UInt64>
  var factory: FamilyFactory
  /// The number of families of one host, which has one thread, its sockets and a store.
  var perHost: UInt64
  /// Every n-th family gets a complete history.
  var every: UInt64

  func isWhole(_ credential: Credential) -> Bool {
    HistoryRecorder(every: every).isWhole(credential.address.family)
  }
}

/// The parameters of one run.
struct RunOrder: Codable {
  /// The number of families of all workers.
  var families: UInt64
  var seed: UInt64
  var mix: Mix
  /// Arrivals per second of all workers.
  var rate: Double
  var seconds: Double
  /// The number of the first arrival.
  var first: UInt64
  /// The start of the run.
  var start: MonotonicInstant
  /// Seconds without a finished question, after the last arrival, until the rest is given up.
  var stallTimeout: Double
  /// Seconds after the last arrival until the rest is given up in any case.
  var drainTimeout: Double
}

/// A report of a worker, sent as one JSON line.
enum WorkerReport: Codable {
  /// The number of attached devices, of all hosted ones.
  case hosting(ready: Int, of: Int)
  /// All devices are attached. Resident memory before and after, in bytes.
  case hosted(before: Int, after: Int)
  /// The measurements since the last report.
  case second(IntervalReport)
  /// The run has ended with this number of unfinished questions.
  case ran(unfinished: Int)
  case checked(CheckResult)
  /// The worker failed and ends.
  case failed(String)
}

/// The measurements of a worker since its last report.
struct IntervalReport: Codable {
  /// A histogram of one measure and kind: values in microseconds with their counts.
  struct Values: Codable {
    var measure: Measure
    var kind: Kind
    var values: [UInt64]
    var counts: [UInt64]
  }
  var measured: [Values]
  /// Since the worker's start.
  var counts: SimulatedUsers.Counts
  var underway: Int
  /// When the last approval without offline devices ended.
  var lastFinished: MonotonicInstant
}

/// The JSON lines between load and workers.
enum Line {
  static func encode(_ value: some Encodable) -> Data {
    // Orders and reports are always encodable.
    try! JSONEncoder().encode(value) + Data([0x0A])
  }

  static func decode<T: Decodable>(_ type: T.Type, _ line: String) -> T? {
    try? JSONDecoder().decode(type, from: Data(line.utf8))
  }
}
