public import FamilyModel

/// A token bucket: bounds both bursts and the long-term rate.
struct TokenBucket: Hashable, Sendable {
  /// The capacity and the refill rate of a bucket.
  struct Size: Hashable, Sendable {
    /// The capacity in tokens.
    var burst: Int64
    /// Tokens added per second.
    var perSecond: Int64
  }

  /// Thousandths of tokens that were spent and not yet refilled.
  private var debt: Int64 = 0
  private var at = Instant(milliseconds: 0)

  /// The time until the cost is available; zero: now.
  func delay(of cost: Int64, of size: Size, now: Instant) -> Milliseconds {
    var copy = self
    return copy.spend(cost, of: size, now: now)
  }

  /// Spends the cost and returns by how much that was too early; zero: the tokens were available.
  @discardableResult
  mutating func spend(_ cost: Int64, of size: Size, now: Instant) -> Milliseconds {
    debt = debt(at: now, size) + cost * 1_000
    at = now
    let lacking = debt - size.burst * 1_000
    return lacking <= 0
      ? .zero : Milliseconds((lacking + size.perSecond - 1) / size.perSecond)
  }

  /// The debt at `now`. A clock that was set back refills nothing.
  private func debt(at now: Instant, _ size: Size) -> Int64 {
    let elapsed = max(.zero, now - at).count
    return elapsed >= debt ? 0 : max(0, debt - elapsed * size.perSecond)
  }
}

/// The rate limits of one family's devices.
///
/// A family's normal traffic is a few tokens per minute. The limits stop compromised and looping
/// devices, so that they take no capacity from other families.
struct RateLimits: Hashable, Sendable {
  /// The limit of one device: a full outbox, or years of history, in one burst.
  static let device = TokenBucket.Size(burst: 8_192, perSecond: 200)
  /// The seconds for which a device is suspended that a guardian is about to remove: enough for
  /// the guardian's device to read and to sign again.
  static let suspension: Int64 = 5
  /// The limit of all devices of a family together.
  static let family = TokenBucket.Size(burst: 65_536, perSecond: 1_000)

  /// Bytes of a key share or of a roster that cost one token. Every reader learns all of them.
  static let sharedBytesPerToken = 1_024
  /// Bytes of a command's other parts, and of a page, that cost one token.
  static let bytesPerToken = 4_096
  /// Cursors of one request, and persons of an attaching device's family, that cost one token.
  static let cursorsPerToken = 8

  /// Tokens of a complaint: the burst allows 32, and then the rate about 47 in a minute.
  static let complaintCost: Int64 = 256

  private var devices = SmallMap<DeviceID, TokenBucket>()
  private var family = TokenBucket()

  /// Spends the cost, or returns the time to wait and spends nothing.
  mutating func spend(_ cost: Int64, of device: DeviceID, now: Instant) -> Milliseconds? {
    var (own, all) = (devices[device] ?? TokenBucket(), family)
    let wait = max(
      own.spend(cost, of: Self.device, now: now), all.spend(cost, of: Self.family, now: now))
    guard wait == .zero else { return wait }
    devices.set(device, own)
    family = all
    return nil
  }

  /// Charges work that is done already. Later requests wait until the debt is refilled.
  mutating func charge(_ cost: Int64, of device: DeviceID, now: Instant) {
    var own = devices[device] ?? TokenBucket()
    own.spend(cost, of: Self.device, now: now)
    devices.set(device, own)
    family.spend(cost, of: Self.family, now: now)
  }

  /// Refuses the device's requests for ``suspension``.
  mutating func suspend(_ device: DeviceID, now: Instant) {
    var own = TokenBucket()
    own.spend(
      Self.device.burst + Self.device.perSecond * Self.suspension, of: Self.device, now: now)
    devices.set(device, own)
  }

  /// The cost of a request in tokens, by its load on the relay: processor, disk, and bytes of the
  /// reply.
  static func cost(of request: Request) -> Int64 {
    switch request {
    case .ping: 1
    case .acknowledge(let cursors): 1 + Int64(cursors.count / cursorsPerToken)
    case .present(let others): 1 + Int64(others.count / 8)
    case .attach(let cursors): 8 + Int64(cursors.count / cursorsPerToken)
    case .fetch: baseCostOfPage
    case .command(_, .complain, _): complaintCost
    case .command(_, let command, let signature):
      2
        + Int64(
          (command.ownBytes + (signature?.storedBytes ?? 0)) / bytesPerToken
            + command.sharedBytes / sharedBytesPerToken)
    case .join: 8
    case .evaluate: 8
    }
  }

  /// The cost of a page before its bytes are known.
  static let baseCostOfPage: Int64 = 16

  /// The further cost of a page with this many bytes, which the relay knows after the read.
  static func cost(ofPageBytes bytes: Int) -> Int64 {
    max(0, Int64(bytes / bytesPerToken) - baseCostOfPage)
  }

  /// The further cost of an attachment, whose reply has up to two channels for each person.
  static func cost(ofChannelsAmong persons: Int) -> Int64 { Int64(persons / cursorsPerToken) }

  /// The cost of reading a page from this many events, few of which may belong to the audience. In
  /// the longest history it is half of a device's burst.
  static func cost(ofPageIn events: UInt64) -> Int64 { cost(of: events / 32) }
  /// The cost of reading the result of an old command by its index; the relay first commits all
  /// pending output.
  static let costOfStoredResult: Int64 = 64
  private static func cost(of tokens: UInt64) -> Int64 {
    Int64(min(tokens, UInt64(device.burst / 2)))
  }
}

extension Command {
  /// Bytes of the parts that a few devices read.
  fileprivate var ownBytes: Int {
    let sealed = content?.sealedBytes ?? 0
    return switch self {
    case .ask(let header, _): header.parts.count + sealed
    case .answerInPerson(let header, _, _, let proof): header.parts.count + sealed + proof.count
    default: sealed
    }
  }

  /// Bytes of the parts that every device reads: a roster, and the wraps of a key share.
  fileprivate var sharedBytes: Int {
    switch self {
    case .setRoster(let roster): roster.storedBytes
    case .shareKeys(_, let wraps): wraps.reduce(0) { $0 + $1.storedBytes }
    default: 0
    }
  }
}

/// Limits the reads of the store for keys that have proved nothing yet.
///
/// The first request that names an evicted family causes a read. A stranger who guesses numbers
/// could thus keep the disk busy. Reads that ended in a refusal spend tokens. Without tokens, only
/// keys that were identified before may cause reads; other requests are refused as `overloaded`.
public struct UnprovenReadLimit: Sendable {
  static let reads = TokenBucket.Size(burst: 2_000, perSecond: 100)
  /// The number of identified keys kept. At the limit all keys are dropped.
  static let remembered = 100_000

  private var refused = TokenBucket()
  private var proven: Set<[UInt8]> = []

  /// Creates a limit with a full bucket and no identified keys.
  public init() {}

  /// Whether the relay may read a family for this key.
  ///
  /// - Parameter outstanding: Reads that have begun and may end in a refusal.
  public func mayRead(_ key: [UInt8], outstanding: Int = 0, now: Instant) -> Bool {
    refused.delay(of: Int64(1 + outstanding), of: Self.reads, now: now) == .zero
      || proven.contains(key)
  }

  /// Records a read and whether the request was refused.
  public mutating func recordRead(for key: [UInt8], isRefused: Bool, now: Instant) {
    guard !isRefused else {
      refused.spend(1, of: Self.reads, now: now)
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
