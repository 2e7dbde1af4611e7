package import FamilyModel
import Synchronization
import ZeroMQ

/// The relay's lanes, and a thread for each, where there are several.
///
/// A lane belongs to its thread from the moment at which `work(isForked:meanwhile:)` wakes it until that returns, and to
/// the relay's thread at all other times. So nobody ever waits for a lane's lock: it says to the compiler what
/// the order of calls does already. Meanwhile the relay's thread sends what the lanes did before, and receives
/// what they will do next.
final class Crew: Sendable {
  /// A lane, and what was received for it, which stays with the relay's thread until the lane begins.
  final class Place: Sendable {
    private let mailbag = Mutex(Mailbag())
    private let lane: Mutex<Lane>

    init(_ lane: consuming sending Lane) { self.lane = Mutex(lane) }

    func with<R: Sendable>(_ body: (inout Lane) throws -> R) rethrows -> R {
      try lane.withLock { lane in try body(&lane) }
    }

    /// Takes the message, and leaves an empty one.
    func put(_ message: inout Multipart) { mailbag.withLock { $0.put(&message) } }

    /// Gives the lane what was received for it, if it has done all that it had; the empty bag comes back.
    func load() {
      lane.withLock { lane in
        if lane.left == 0 { mailbag.withLock { swap(&$0, &lane.mailbag) } }
      }
    }

    /// Messages that wait for the lane.
    var waiting: Int { lane.withLock { $0.left } + mailbag.withLock { $0.count } }
  }

  /// The lanes.
  let places: [Place]
  private let workers: [Worker]

  init(_ configuration: RelayService.Configuration, _ keys: RelayKeys) {
    let count = max(1, min(configuration.lanes, RelayLimits.lanes))
    places = (0..<count).map { _ in Place(Lane(configuration, keys, lanes: count)) }
    workers = count == 1 ? [] : places.map { _ in Worker() }
  }

  /// Whether there are threads.
  var isMany: Bool { places.count > 1 }

  /// The lane of the family.
  subscript(family: FamilyID) -> Place { places[family.lane(of: places.count)] }

  /// Starts the threads; each inherits the caller's mask of signals.
  func start() {
    for (place, worker) in zip(places, workers) {
      worker.start("lane") { place.with { $0.work() } }
    }
  }

  /// Ends the threads, which were started; returns when they have done their last.
  func stop() { workers.forEach { $0.stop() } }

  /// Messages that wait for the lanes, which are not at work.
  var waiting: Int { places.reduce(0) { $0 + $1.waiting } }

  /// Has the lanes handle some of what was received; returns when they have, and the body, too: all at the same
  /// time, or one after the other on the caller's thread.
  func work(isForked: Bool, meanwhile body: () throws -> Void) rethrows {
    for place in places { place.load() }
    if isForked {
      workers.forEach { $0.begin() }
      defer { workers.forEach { $0.wait() } }
      try body()
    } else {
      try body()
      for place in places { place.with { $0.work() } }
    }
  }
}

extension FamilyID {
  /// The family's lane of so many: numbers that follow each other, or that differ by a power of two or by
  /// the number of lanes, do not meet in one.
  package func lane(of lanes: Int) -> Int {
    Int((rawValue.scattered * UInt64(lanes)) >> 32)
  }
}
