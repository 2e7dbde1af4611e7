public import FamilyModel

/// The fields of an event as a store holds them. Damage may have changed each of them.
public struct EventRecord: Hashable, Sendable {
  /// The record that stands for one of which nothing can be read.
  public static let unreadable = EventRecord(
    prior: 0, family: FamilyID(0), seq: 0, audience: .family, device: DeviceID(0), command: [],
    at: Instant(milliseconds: 0), payload: [], sum: -1)

  /// The number in the log of the family's event before; 0 without one.
  public var prior: Int64
  /// See ``StoredEvent/family``.
  public var family: FamilyID
  /// See ``StoredEvent/seq``.
  public var seq: UInt64
  /// See ``StoredEvent/audience``.
  public var audience: Audience
  /// See ``StoredEvent/device``.
  public var device: DeviceID
  /// The sixteen bytes of a command's id, unless they are damaged.
  public var command: [UInt8]
  /// See ``StoredEvent/at``.
  public var at: Instant
  /// See ``StoredEvent/payload``.
  public var payload: [UInt8]
  /// The checksum beside the fields.
  public var sum: Int64

  /// A record with these fields.
  public init(
    prior: Int64, family: FamilyID, seq: UInt64, audience: Audience, device: DeviceID,
    command: [UInt8], at: Instant, payload: [UInt8], sum: Int64
  ) {
    self.prior = prior
    self.family = family
    self.seq = seq
    self.audience = audience
    self.device = device
    self.command = command
    self.at = at
    self.payload = payload
    self.sum = sum
  }

  /// The record of a whole event.
  public init(_ event: StoredEvent, prior: Int64) {
    self.init(
      prior: prior, family: event.family, seq: event.seq, audience: event.audience,
      device: event.device, command: event.command.bytes, at: event.at, payload: event.payload,
      sum: Int64(event.checksum))
  }

  /// The event; `nil` if the fields do not match the checksum.
  public var event: StoredEvent? {
    unverified.flatMap { Int64($0.checksum) == sum ? $0 : nil }
  }

  /// The event of the fields, whatever the checksum; `nil` without a command's id.
  var unverified: StoredEvent? {
    guard let command = ID128(bytes: command) else { return nil }
    return StoredEvent(
      family: family, seq: seq, audience: audience, device: device, command: command, at: at,
      payload: payload)
  }
}
