import FamilyModel

/// Makes the ids of a device's commands.
///
/// An id is later than all earlier ids of this device. An id is also later than the statements of
/// others that this device knows, because the later of two statements about one value counts. No id
/// is further ahead of the relay's clock than ``Limits/idLead``. A time that another member or an
/// earlier relay pushed forward therefore stops no commands.
struct CommandIDSource: Sendable {
  private var source: IDSource
  /// The time of this device's latest id.
  private var lastTime = Instant(milliseconds: 0)
  /// The time of the latest statement of others.
  private var latestOfOthers = Instant(milliseconds: 0)
  /// The latest time that the relay stated, or an earlier one if the relay corrected itself.
  private var relayTime = Instant(milliseconds: 0)
  /// The latest time of an event.
  private(set) var newestEvent = Instant(milliseconds: 0)
  /// How far this device's clock is ahead of the relay's, as far as the device knows.
  private var lead = Milliseconds.zero

  init(_ source: IDSource) { self.source = source }

  mutating func next(now: Instant) -> CommandID {
    // A relay that states a time in the past must not make statements lose against older ones.
    let present = max(now - lead, min(now, newestEvent))
    let bound = max(now, relayTime) + Limits.idLead
    let afterAll = max(lastTime, latestOfOthers) + .milliseconds(1)
    // The wire has no later time than the last one.
    lastTime = min(
      max(afterAll, present), bound, Instant(milliseconds: Limits.times.upperBound))
    return source.id(now: lastTime)
  }

  /// The relay's present time, as far as the device knows.
  func relayTime(now: Instant) -> Instant { max(now - lead, newestEvent) }

  /// Observes a statement of another device, whose id later ids exceed.
  mutating func observe(_ id: CommandID) { latestOfOthers = max(latestOfOthers, id.time) }

  /// Observes an id that this device made before its start.
  mutating func observeOwn(_ id: CommandID) { lastTime = max(lastTime, id.time) }

  /// Observes the relay's time of an event, which may be long past.
  mutating func observe(relayTime time: Instant) {
    relayTime = max(relayTime, time)
    newestEvent = max(newestEvent, time)
  }

  /// Learns the relay's present time. An id that the relay has refused as early binds no later id.
  mutating func learn(relayTime time: Instant, now: Instant) {
    lead = max(.zero, now - time)
    relayTime = time
    // An event that the relay dated later than now is no reason for ever later ids.
    if time < newestEvent { newestEvent = min(newestEvent, max(time, now)) }
    if lastTime > time + Limits.idLead { lastTime = time }
  }

  /// Forgets the difference of the clocks, because this device's clock was set back.
  mutating func clockSetBack() { lead = .zero }

  /// Packs what events have taught.
  func pack(_ packer: inout Packer) {
    for time in [lastTime, latestOfOthers, relayTime, newestEvent] { packer.add(time) }
  }

  /// Restores what events have taught.
  mutating func restore(_ packed: inout Unpacker) {
    lastTime = packed.value()
    latestOfOthers = packed.value()
    relayTime = packed.value()
    newestEvent = packed.value()
  }

  /// 64 random bits.
  mutating func bits() -> UInt64 { source.next() }
}
