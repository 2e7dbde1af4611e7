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
  /// The latest time that the relay stated.
  private var relayTime = Instant(milliseconds: 0)
  /// How far this device's clock is ahead of the relay's, as far as the device knows.
  private var lead = Milliseconds.zero

  init(_ source: IDSource) { self.source = source }

  mutating func next(now: Instant) -> CommandID {
    let present = now - lead
    // The relay accepts every id up to the bound.
    let bound = max(present, relayTime) + Limits.idLead
    let afterOthers = min(latestOfOthers + .milliseconds(1), bound)
    lastTime = max(lastTime + .milliseconds(1), afterOthers, present)
    // The wire has no later time.
    lastTime = min(lastTime, Instant(milliseconds: Limits.times.upperBound))
    return source.id(now: lastTime)
  }

  /// Observes a statement of another device, whose id later ids exceed.
  mutating func observe(_ id: CommandID) { latestOfOthers = max(latestOfOthers, id.time) }

  /// Observes an id that this device made before its start.
  mutating func observeOwn(_ id: CommandID) { lastTime = max(lastTime, id.time) }

  /// Observes the relay's time of an event, which may be long past.
  mutating func observe(relayTime time: Instant) { relayTime = max(relayTime, time) }

  /// Learns the relay's present time. An id that the relay has refused as early binds no later id.
  mutating func learn(relayTime time: Instant, now: Instant) {
    lead = max(.zero, now - time)
    relayTime = time
    if lastTime > time + Limits.idLead { lastTime = time }
  }

  /// Forgets the difference of the clocks, because this device's clock was set back.
  mutating func clockSetBack() { lead = .zero }

  /// 64 random bits.
  mutating func bits() -> UInt64 { source.next() }
}
