import FamilyModel
import Foundation
import Synchronization
import ZeroMQ

/// Children who ask and guardians who approve, in all families of a relay, with one thread for each
/// side.
///
/// An approval ends when question and decision are committed and the child's device has received
/// the decision by broadcast and acknowledged it. Guardians' devices also acknowledge.
final class ApprovalLoad: Sendable {
  /// The current load, guarded by `state`.
  private struct State: Sendable {
    var window = 0
    /// Questions per second in an open loop; 0 for a closed loop that keeps the window full.
    var rate = 0.0
    /// When the load was set.
    var since = MonotonicInstant.machineStart
    var isStopped = false
    var ready = 0
    var failure: (any Error)?
  }

  struct Sample: Sendable {
    var done = 0
    var asked = 0
    var refused = 0
    /// Questions that the sockets or the question window rejected.
    var unsent = 0
    /// Seconds of each approval since the last sample, for questions asked since the load was set.
    var times: [Double] = []
  }

  private let state = Mutex(State())
  private let sample = Mutex(Sample())
  private let address: RelayAddress
  private let families: UInt64
  private let usesQuestionWindow: Bool

  /// Starts both sides and returns when they are attached.
  ///
  /// - Parameter usesQuestionWindow: Whether children limit their questions in flight as agents do.
  init(
    at address: RelayAddress, families: UInt64,
    usesQuestionWindow: Bool = false
  ) throws {
    self.address = address
    self.families = families
    self.usesQuestionWindow = usesQuestionWindow
    try FamilyProvisioner(at: address).provision(families)
    for body in [ApprovalLoad.children, ApprovalLoad.guardians] {
      let thread = Thread { [self] in
        do { try body(self)() } catch { state.withLock { $0.failure = error } }
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
    while state.withLock({ $0.ready < 2 && $0.failure == nil }) { usleep(1_000) }
    try check()
  }

  private func check() throws {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// The work done since the last call.
  func takeSample() -> Sample {
    sample.withLock { sample in
      defer { sample = Sample() }
      return sample
    }
  }

  func set(window: Int, rate: Double = 0) throws {
    try check()
    state.withLock {
      $0.window = window
      $0.rate = rate
      $0.since = MonotonicInstant.now
    }
  }

  func stop() { state.withLock { $0.isStopped = true } }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  // MARK: the two sides

  private func guardians() throws {
    var devices = try Devices(RelayAddress.guardianDevice, address.guardian, at: address)
    try devices.attach(families: families)
    state.withLock { $0.ready += 1 }
    var answered = [UInt64](repeating: 0, count: Int(families) + 1)
    var ids = NumberedIDs()
    while !isStopped {
      try devices.wait(within: .milliseconds(100))
      while let (family, event) = try devices.nextEvent() {
        switch event.kind {
        case .asked:
          // The relay may republish the event.
          guard answered[Int(family)] < event.seq else { continue }
          answered[Int(family)] = event.seq
          _ = try devices.send(
            .answer, .init(family: family, command: ids.next(), question: event.question))
        case .approved:
          _ = try devices.send(.acknowledge, .init(family: family, seq: event.seq))
        case .other: break
        }
      }
      while try devices.nextReply() != nil {}
    }
  }

  private func children() throws {
    var devices = try Devices(RelayAddress.childDevice, address.child, at: address)
    try devices.attach(families: families)
    state.withLock { $0.ready += 1 }
    var children = Children(families: families, usesQuestionWindow: usesQuestionWindow)
    while !isStopped {
      let (window, rate, since) = state.withLock { ($0.window, $0.rate, $0.since) }
      try children.ask(&devices, window: window, rate: rate, since: since)
      try devices.wait(within: .milliseconds(rate > 0 ? 1 : 20))
      try children.receive(&devices)
      let new = children.takeSample()
      guard new.asked + new.done + new.refused + new.unsent > 0 else { continue }
      sample.withLock {
        $0.done += new.done
        $0.asked += new.asked
        $0.refused += new.refused
        $0.unsent += new.unsent
        $0.times += new.times
      }
    }
  }
}

/// Unique identifiers that ascend with time, as those of devices do, and encode a number.
///
/// Ascending ids matter: the relay must look up an id in the store if it is older than its cached
/// results.
struct NumberedIDs {
  private let mark = UInt64.random(in: 1..<1 << 24) << 40
  private var last: UInt64 = 0

  mutating func next() -> ID128 {
    last += 1
    return id(last, at: MonotonicInstant.now)
  }

  /// The identifier of a number below 2⁴⁰, made at a moment.
  func id(_ number: UInt64, at begun: MonotonicInstant) -> ID128 {
    ID128(high: begun.uptime.milliseconds, low: mark | number)
  }

  /// The number of an identifier; `nil` for an identifier from another source.
  func number(_ id: ID128) -> UInt64? {
    id.low >> 40 == mark >> 40 ? id.low & (1 << 40 - 1) : nil
  }
}

/// Creates families at the relay as the administrator.
struct FamilyProvisioner {
  let address: RelayAddress

  init(at address: RelayAddress) { self.address = address }

  /// Creates families 1 to `families`. All have the same devices unless `roster` gives each its own.
  func provision(_ families: UInt64, roster: ((UInt64) -> Roster)? = nil) throws {
    var devices = try Devices(DeviceID(0), address.administrator, at: address)
    var sent: UInt64 = 0
    var done: UInt64 = 0
    while done < families {
      while sent < families, sent < done + Devices.requestsInFlight {
        sent += 1
        let roster = roster?(sent) ?? address.roster
        try devices.send(.command(devices.newID(), .setRoster(roster), nil), in: sent)
      }
      guard try devices.requests.waitUntilReadable(within: Devices.timeout) else {
        throw RelayUnavailable()
      }
      while let reply = try devices.nextReply() {
        guard case .accepted = reply.reply else { throw UnexpectedReply(reply: reply.reply) }
        done += 1
      }
    }
  }
}
