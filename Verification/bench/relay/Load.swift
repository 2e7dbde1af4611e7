import FamilyModel
import Foundation
import Synchronization
import ZeroMQ

/// Children who ask and guardians who approve, in all families of a relay: a thread for each side.
///
/// An approval is done when the question is committed, the decision is committed, and the child's device
/// has got it by broadcast and has acknowledged it. Guardians' devices acknowledge, too.
final class Load: Sendable {
  /// What goes on now, and what came of it.
  private struct State: Sendable {
    var window = 0
    /// Questions a second, whatever becomes of them; 0: as many as the window leaves room for.
    var rate = 0.0
    /// When that was set.
    var since: UInt64 = 0
    var isOver = false
    var ready = 0
    var failure: (any Error)?
  }

  struct Sample: Sendable {
    var done = 0
    var asked = 0
    var refused = 0
    /// Questions that found no room in their own connection.
    var unsent = 0
    /// Seconds of each approval since the last sample was taken, of questions asked since the load was set.
    var times: [Double] = []
  }

  private let state = Mutex(State())
  private let sample = Mutex(Sample())
  private let address: RelayAddress
  private let families: UInt64
  private let isPatient: Bool

  /// Starts both sides, and returns when they are ready.
  ///
  /// - Parameter isPatient: Whether children hold back as agents do.
  init(
    at address: RelayAddress, families: UInt64, isFounded: Bool = false, isPatient: Bool = false
  ) throws {
    self.address = address
    self.families = families
    self.isPatient = isPatient
    if !isFounded { try Founder(at: address).found(families) }
    for body in [Load.children, Load.guardians] {
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

  /// What was done since the last call.
  func take() -> Sample {
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
      $0.since = Monotonic.now()
    }
  }

  func stop() { state.withLock { $0.isOver = true } }

  private var isOver: Bool { state.withLock { $0.isOver } }

  // MARK: the two sides

  private func guardians() throws {
    var devices = try Devices(RelayAddress.guardianDevice, address.guardian, at: address)
    try devices.attach(families: families)
    state.withLock { $0.ready += 1 }
    var answered = [UInt64](repeating: 0, count: Int(families) + 1)
    var ids = Numbered()
    while !isOver {
      try devices.wait(milliseconds: 100)
      while let (family, event) = try devices.nextEvent() {
        switch event.kind {
        case .asked:
          // It may come again.
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
    var children = Children(families: families, isPatient: isPatient)
    while !isOver {
      let (window, rate, since) = state.withLock { ($0.window, $0.rate, $0.since) }
      try children.ask(&devices, window: window, rate: rate, since: since)
      try devices.wait(milliseconds: rate > 0 ? 1 : 20)
      try children.hear(&devices)
      let new = children.take()
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

/// Identifiers that are new, ascend with time as those of devices do, and tell their number. The relay has to
/// look up what is older than what it remembers.
struct Numbered {
  private let mark = UInt64.random(in: 1..<1 << 24) << 40
  private var last: UInt64 = 0

  mutating func next() -> ID128 {
    last += 1
    return id(last, at: Monotonic.now())
  }

  /// The identifier of a number below 2⁴⁰ that began then, in nanoseconds.
  func id(_ number: UInt64, at begun: UInt64) -> ID128 {
    ID128(high: begun / 1_000_000, low: mark | number)
  }

  /// The number of an identifier that is of these.
  func number(_ id: ID128) -> UInt64? {
    id.low >> 40 == mark >> 40 ? id.low & (1 << 40 - 1) : nil
  }
}

/// Makes families.
struct Founder {
  let address: RelayAddress

  init(at address: RelayAddress) { self.address = address }

  func found(_ families: UInt64) throws {
    var devices = try Devices(DeviceID(0), address.administrator, at: address)
    var sent: UInt64 = 0
    var done: UInt64 = 0
    while done < families {
      while sent < families, sent - done < 4_000 {
        sent += 1
        try devices.send(.command(devices.newID(), .setRoster(address.roster), nil), in: sent)
      }
      guard try devices.requests.waitUntilReadable(milliseconds: Devices.timeout) else {
        throw RelayGone()
      }
      while let reply = try devices.nextReply() {
        guard case .accepted = reply.reply else { throw Refused(reply: reply.reply) }
        done += 1
      }
    }
  }
}
