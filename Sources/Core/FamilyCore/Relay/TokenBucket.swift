public import FamilyModel

/// A bucket of units that fills with time: what somebody may ask for at once, and in the long run.
struct TokenBucket: Hashable, Sendable {
  /// What a bucket holds, and how fast it fills.
  struct Size: Hashable, Sendable {
    /// Units at most.
    var burst: Int64
    /// Units that come back each second.
    var perSecond: Int64
  }

  /// Thousandths of units that were taken and have not come back.
  private var debt: Int64 = 0
  private var at = Instant(milliseconds: 0)

  /// Milliseconds until the cost can be taken; zero: now.
  func wait(_ cost: Int64, of size: Size, now: Instant) -> Int64 {
    var copy = self
    return copy.take(cost, of: size, now: now)
  }

  /// Takes the cost; tells how many milliseconds too early that was: zero, where there was enough.
  @discardableResult
  mutating func take(_ cost: Int64, of size: Size, now: Instant) -> Int64 {
    debt = owed(size, now: now) + cost * 1_000
    at = now
    let lacking = debt - size.burst * 1_000
    return lacking <= 0 ? 0 : (lacking + size.perSecond - 1) / size.perSecond
  }

  /// A clock that went back fills nothing.
  private func owed(_ size: Size, now: Instant) -> Int64 {
    let elapsed = max(0, now.milliseconds &- at.milliseconds)
    return elapsed >= debt ? 0 : max(0, debt - elapsed * size.perSecond)
  }
}

/// What the devices of one family may ask for.
///
/// A family's normal traffic is a few units a minute. The limits are there for a device that somebody has
/// turned against the relay, or that runs in a circle: it is told to wait, and other families lose nothing.
struct RateLimits: Hashable, Sendable {
  /// Of one device: a whole outbox, or the history of years, at once.
  static let device = TokenBucket.Size(burst: 8_192, perSecond: 200)
  /// Of all devices of a family together.
  static let family = TokenBucket.Size(burst: 65_536, perSecond: 1_000)

  private var devices = SmallMap<DeviceID, TokenBucket>()
  private var family = TokenBucket()

  /// Takes the cost; milliseconds to wait instead, where there is too little.
  mutating func take(_ cost: Int64, _ device: DeviceID, now: Instant) -> UInt32? {
    var (own, all) = (devices[device] ?? TokenBucket(), family)
    let wait = max(own.take(cost, of: Self.device, now: now), all.take(cost, of: Self.family, now: now))
    guard wait == 0 else { return UInt32(clamping: wait) }
    devices.set(device, own)
    family = all
    return nil
  }

  /// Units of a request, by what it costs the relay: processor, disk, and bytes of the answer.
  static func cost(of request: Request) -> Int64 {
    switch request {
    case .ping, .acknowledge: 1
    case .present(let others): 1 + Int64(others.count / 8)
    case .attach: 8
    case .fetch: 16
    case .command(_, let command, _): 2 + Int64(command.sealedBytes / 4_096)
    case .join: 8
    }
  }

  /// Units of reading the history, event by event: a page of it (there may be few events of its audience in
  /// many), or what became of an old command, before which what is undecided is committed. In the longest
  /// history it takes half of what a device may have.
  static func cost(ofPageIn events: UInt64) -> Int64 { cost(of: events / 32) }
  static func cost(ofRecallIn events: UInt64) -> Int64 { cost(of: 16 + events / 4) }
  private static func cost(of units: UInt64) -> Int64 {
    Int64(min(units, UInt64(device.burst / 2)))
  }
}

extension Command {
  /// Bytes of what it carries and the relay does not read.
  fileprivate var sealedBytes: Int {
    if case .sealed(let bytes) = content { bytes.count } else { 0 }
  }
}

/// Reads of the store for keys that have proved nothing yet.
///
/// A family that is not in memory is read for the first request that names it. Who guesses could keep the
/// disk busy with that: so reads that ended in a refusal are counted, and when there are too many, keys
/// that were never let in wait (`overloaded`), while those that were go on.
public struct UnprovenReadLimit: Sendable {
  static let reads = TokenBucket.Size(burst: 2_000, perSecond: 100)
  /// Keys that are remembered; all are forgotten when there are more.
  static let remembered = 100_000

  private var refused = TokenBucket()
  private var proven: Set<[UInt8]> = []

  /// Nobody is known.
  public init() {}

  /// Whether a family may be read for this key.
  public func mayRead(_ key: [UInt8], now: Instant) -> Bool {
    refused.wait(1, of: Self.reads, now: now) == 0 || proven.contains(key)
  }

  /// A family was read, and the key was let in or refused.
  public mutating func read(for key: [UInt8], isRefused: Bool, now: Instant) {
    guard !isRefused else {
      refused.take(1, of: Self.reads, now: now)
      return
    }
    if proven.count >= Self.remembered { proven.removeAll(keepingCapacity: true) }
    proven.insert(key)
  }
}

extension RateLimits: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(devices)
    packer.add(family)
  }

  init(_ packed: inout Unpacker) {
    devices = packed.value()
    family = packed.value()
  }
}

extension TokenBucket: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(bitPattern: debt))
    packer.add(at)
  }

  init(_ packed: inout Unpacker) {
    debt = Int64(bitPattern: packed.number())
    at = packed.value()
  }
}
