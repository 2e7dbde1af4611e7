import FamilyModel

/// The bytes of a record, as segments keep it. Numbers are big-endian.
///
/// | record | bytes |
/// |---|---|
/// | event | 1, family (8), sequence number (8), audience (8), device (4), command (16), time (8), length (4), payload |
/// | passcode lock | 2, family (8), length (4), payload |
/// | damaged event | 3, family (8), sequence number (8), audience (8), device (4), time (8), prior (8), checksum (8), length (4), command, length (4), payload |
/// | damaged passcode lock | 4, family (8), checksum (8), length (4), payload |
///
/// Version 0.1.0 reads the first two kinds, and refuses a segment with another one.
extension LogRecord {
  private enum Kind: UInt8 { case event = 1, passcodeLock, damaged, damagedLock }

  /// Appends the record.
  public func append(to bytes: inout [UInt8]) {
    func add(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
    func add(_ part: [UInt8]) {
      add(UInt32(part.count))
      bytes += part
    }
    switch self {
    case .event(let event):
      add(Kind.event.rawValue)
      add(event.family.rawValue)
      add(event.seq)
      add(event.audience.rawValue)
      add(event.device.rawValue)
      bytes += event.command.bytes
      add(event.at.milliseconds)
      add(event.payload)
    case .passcodeLock(let lock):
      add(Kind.passcodeLock.rawValue)
      add(lock.family.rawValue)
      add(lock.payload)
    case .damaged(let record):
      add(Kind.damaged.rawValue)
      add(record.family.rawValue)
      add(record.seq)
      add(record.audience.rawValue)
      add(record.device.rawValue)
      add(record.at.milliseconds)
      add(record.prior)
      add(record.sum)
      add(record.command)
      add(record.payload)
    case .damagedLock(let lock, let sum):
      add(Kind.damagedLock.rawValue)
      add(lock.family.rawValue)
      add(sum)
      add(lock.payload)
    }
  }

  /// Reads the records.
  ///
  /// - Returns: `nil` if the bytes are not whole records.
  public static func read(_ bytes: some Collection<UInt8>) -> [LogRecord]? {
    var rest = Rest(bytes: ArraySlice(Array(bytes)))
    var records: [LogRecord] = []
    while !rest.bytes.isEmpty {
      guard let record = LogRecord(reading: &rest) else { return nil }
      records.append(record)
    }
    return records
  }

  private init?(reading rest: inout Rest) {
    guard let kind = rest.next(1)?.first.flatMap(Kind.init),
      let family = rest.number(UInt64.self).map({ FamilyID($0) })
    else { return nil }
    switch kind {
    case .event:
      guard let seq = rest.number(UInt64.self), let audience = rest.number(UInt64.self),
        let device = rest.number(UInt32.self), let command = rest.next(16),
        let id = ID128(bytes: command), let at = rest.signed(), let payload = rest.part()
      else { return nil }
      self = .event(
        StoredEvent(
          family: family, seq: seq, audience: Audience(rawValue: audience),
          device: DeviceID(device), command: id, at: Instant(milliseconds: at), payload: payload))
    case .passcodeLock:
      guard let payload = rest.part() else { return nil }
      self = .passcodeLock(StoredPasscodeLock(family: family, payload: payload))
    case .damaged:
      guard let seq = rest.number(UInt64.self), let audience = rest.number(UInt64.self),
        let device = rest.number(UInt32.self), let at = rest.signed(), let prior = rest.signed(),
        let sum = rest.signed(), let command = rest.part(), let payload = rest.part()
      else { return nil }
      self = .damaged(
        EventRecord(
          prior: prior, family: family, seq: seq, audience: Audience(rawValue: audience),
          device: DeviceID(device), command: command, at: Instant(milliseconds: at),
          payload: payload, sum: sum))
    case .damagedLock:
      guard let sum = rest.signed(), let payload = rest.part() else { return nil }
      self = .damagedLock(StoredPasscodeLock(family: family, payload: payload), sum: sum)
    }
  }

  /// The bytes that are not read yet. Each call returns `nil` if fewer remain than it reads.
  private struct Rest {
    var bytes: ArraySlice<UInt8>

    mutating func next(_ count: Int) -> ArraySlice<UInt8>? {
      guard bytes.count >= count else { return nil }
      defer { bytes.removeFirst(count) }
      return bytes.prefix(count)
    }

    mutating func number<N: FixedWidthInteger & UnsignedInteger>(_: N.Type) -> N? {
      next(N.bitWidth / 8)?.reduce(0) { $0 << 8 | N($1) }
    }

    mutating func signed() -> Int64? { number(UInt64.self).map { Int64(bitPattern: $0) } }

    /// Bytes after their length.
    mutating func part() -> [UInt8]? {
      guard let count = number(UInt32.self) else { return nil }
      return next(Int(count)).map(Array.init)
    }
  }
}
