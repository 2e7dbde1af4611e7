import Credentials
import Foundation

/// What a worker is told, a JSON line each.
enum Order: Codable {
  /// Host these families.
  case host(Hosting)
  /// Begin these arrivals.
  case run(Run)
  /// The relay has ended: check what happened with its store.
  case check(store: String)
}

/// What a worker hosts.
struct Hosting: Codable {
  /// The worker's folder.
  var directory: String
  /// The relay's folder.
  var relay: String
  /// The relay's process: it is ended when nobody is left who would.
  var relayPID: Int32
  var families: ClosedRange<UInt64>
  var households: FamilyFactory
  /// Families of one host: a thread with its sockets and its store.
  var perHost: UInt64
  /// Whole histories are kept of every n-th family.
  var every: UInt64

  func isWhole(_ credential: Credential) -> Bool {
    HistoryRecorder(every: every).isWhole(credential.address.family)
  }
}

/// One run of arrivals.
struct Run: Codable {
  /// All families, of all workers.
  var families: UInt64
  var seed: UInt64
  var mix: Mix
  /// A second, of all workers.
  var rate: Double
  var seconds: Double
  /// The number of the first arrival.
  var first: UInt64
  /// When it starts, in nanoseconds of `Monotonic`.
  var start: UInt64
  /// Seconds in which nothing is finished, after the last question, when what is still under way is given up;
  /// and seconds after which it is in any case.
  var patience: Double
  var drain: Double
}

/// What a worker tells, a JSON line each.
enum Note: Codable {
  /// Devices that have their family and its channels, of all that it hosts.
  case hosting(ready: Int, of: Int)
  /// All are hosted: bytes of memory before and after.
  case hosted(before: Int, after: Int)
  /// What one second brought.
  case second(Second)
  /// The run is over, and this many questions are still under way.
  case ran(unfinished: Int)
  case checked(CheckResult)
  /// The worker cannot go on.
  case failed(String)
}

/// What a worker measured since it last told.
struct Second: Codable {
  /// By measure and kind: pairs of a value in microseconds and how often it was measured.
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
  /// When the last approval that nothing held up was over, in nanoseconds of `Monotonic`.
  var lastFinished: UInt64
}

/// JSON lines.
enum Line {
  static func encode(_ value: some Encodable) -> Data {
    // These values have no state that cannot be encoded.
    try! JSONEncoder().encode(value) + Data([0x0A])
  }

  static func decode<T: Decodable>(_ type: T.Type, _ line: String) -> T? {
    try? JSONDecoder().decode(type, from: Data(line.utf8))
  }
}
