import FamilyModel

/// Makes command ids that grow: each is later than every id that this device made or observed.
struct CommandIDSource: Sendable {
  private var source: IDSource
  /// Milliseconds of the latest id.
  private var lastTime: Int64 = 0

  init(_ source: IDSource) { self.source = source }

  mutating func next(now: Instant) -> CommandID {
    lastTime = max(lastTime + 1, now.milliseconds)
    return source.id(now: Instant(milliseconds: lastTime))
  }

  mutating func observe(_ id: CommandID) { lastTime = max(lastTime, Int64(id.high >> 16)) }

  /// 64 random bits.
  mutating func bits() -> UInt64 { source.next() }
}
