import FamilyModel
import Foundation
import Synchronization

/// The relay's lanes, and the threads that work on them beside the relay's own.
///
/// `work` returns when all lanes have handled what is in their mailbags: until then the relay's thread has the
/// first lane, and each thread of the crew one of the others. At all other times the threads sleep, and every
/// lane is the relay's. So nothing is ever waited for in a lane but its own thread; the lock says to the
/// compiler what the order of calls does already.
final class Crew: Sendable {
  /// A lane and its lock.
  final class Place: Sendable {
    private let lane: Mutex<Lane>

    init(_ lane: consuming sending Lane) { self.lane = Mutex(lane) }

    func with<R: Sendable>(_ body: (inout Lane) throws -> R) rethrows -> R {
      try lane.withLock { lane in try body(&lane) }
    }
  }

  /// The lanes.
  let places: [Place]
  private let begins: [Semaphore]
  private let isDone = Semaphore()
  private let isOver = Atomic(false)

  init(_ configuration: RelayService.Configuration, _ keys: RelayKeys) {
    let count = max(1, min(configuration.lanes, RelayLimits.lanes))
    places = (0..<count).map { _ in Place(Lane(configuration, keys, lanes: count)) }
    begins = places.dropFirst().map { _ in Semaphore() }
  }

  /// Whether there is anybody but the relay's thread.
  var isMany: Bool { places.count > 1 }

  /// The lane of the family.
  subscript(family: FamilyID) -> Place {
    guard isMany else { return places[0] }
    // Numbers that follow each other, or differ by a power of two, must not meet in one lane.
    let mixed = family.rawValue &* 0x9E37_79B9_7F4A_7C15 >> 32
    return places[Int(mixed % UInt64(places.count))]
  }

  /// Starts the threads; each inherits the caller's mask of signals.
  func start() {
    for (place, begin) in zip(places.dropFirst(), begins) {
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

  /// Handles what is in the mailbags.
  ///
  /// - Parameter atOnce: Whether the threads are woken for it; otherwise the caller does all.
  func work(atOnce: Bool) {
    guard atOnce else { return places.forEach { $0.with { $0.work() } } }
    for begin in begins { begin.signal() }
    places[0].with { $0.work() }
    for _ in begins { isDone.wait() }
  }
}
