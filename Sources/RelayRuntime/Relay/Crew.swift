package import FamilyModel
import Foundation
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
  private let begins: [Semaphore]
  private let isDone = Semaphore()
  private let isOver = Atomic(false)

  init(_ configuration: RelayService.Configuration, _ keys: RelayKeys) {
    let count = max(1, min(configuration.lanes, RelayLimits.lanes))
    places = (0..<count).map { _ in Place(Lane(configuration, keys, lanes: count)) }
    begins = count == 1 ? [] : places.map { _ in Semaphore() }
  }

  /// Whether there are threads.
  var isMany: Bool { places.count > 1 }

  /// The lane of the family.
  subscript(family: FamilyID) -> Place { places[family.lane(of: places.count)] }

  /// Starts the threads; each inherits the caller's mask of signals.
  func start() {
    for (place, begin) in zip(places, begins) {
      let thread = Thread { [self] in serve(place, begin) }
      thread.name = "lane"
      thread.start()
    }
  }

  /// Ends the threads, which were started; returns when they have done their last.
  func stop() {
    isOver.store(true, ordering: .releasing)
    for begin in begins { begin.signal() }
    for _ in begins { isDone.wait() }
  }

  private func serve(_ place: Place, _ begin: Semaphore) {
    while true {
      begin.wait()
      if isOver.load(ordering: .acquiring) { break }
      place.with { $0.work() }
      isDone.signal()
    }
    isDone.signal()
  }

  /// Messages that wait for the lanes, which are not at work.
  var waiting: Int { places.reduce(0) { $0 + $1.waiting } }

  /// Has the lanes handle some of what was received; returns when they have, and the body, too: all at the same
  /// time, or one after the other on the caller's thread.
  func work(isForked: Bool, meanwhile body: () throws -> Void) rethrows {
    for place in places { place.load() }
    if isForked {
      for begin in begins { begin.signal() }
      defer { for _ in begins { isDone.wait() } }
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
