import FamilyModel

/// Makes command ids that grow: each is later than every id that this device made or observed.
struct CommandIDSource: Sendable {
  private var source: IDSource
  /// The time of the latest id.
  private var lastTime = Instant(milliseconds: 0)

  init(_ source: IDSource) { self.source = source }

  mutating func next(now: Instant) -> CommandID {
    lastTime = max(lastTime + .milliseconds(1), now)
    return source.id(now: lastTime)
  }

  mutating func observe(_ id: CommandID) { lastTime = max(lastTime, id.time) }

  /// 64 random bits.
  mutating func bits() -> UInt64 { source.next() }
}
