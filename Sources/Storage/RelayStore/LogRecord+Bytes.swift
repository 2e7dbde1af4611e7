import FamilyModel

/// The bytes of a record, as segments keep it. Numbers are big-endian.
///
/// | record | bytes |
/// |---|---|
/// | event | 1, family (8), sequence number (8), audience (8), device (4), command (16), time (8), length (4), payload |
/// | passcode lock | 2, family (8), length (4), payload |
extension LogRecord {
  private enum Kind: UInt8 { case event = 1, passcodeLock }

  /// Appends the record.
  public func append(to bytes: inout [UInt8]) {
    func add(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
    let payload: [UInt8]
    switch self {
    case .event(let event):
      add(Kind.event.rawValue)
      add(event.family.rawValue)
      add(event.seq)
      add(event.audience.rawValue)
      add(event.device.rawValue)
      bytes += event.command.bytes
      add(event.at.milliseconds)
      payload = event.payload
    case .passcodeLock(let lock):
      add(Kind.passcodeLock.rawValue)
      add(lock.family.rawValue)
      payload = lock.payload
    }
    add(UInt32(payload.count))
    bytes += payload
  }

  /// Reads the records.
  ///
  /// - Returns: `nil` if the bytes are not whole records.
  public static func read(_ bytes: some Collection<UInt8>) -> [LogRecord]? {
    var rest = ArraySlice(Array(bytes))
    var records: [LogRecord] = []
    while !rest.isEmpty {
      guard let record = LogRecord(reading: &rest) else { return nil }
      records.append(record)
    }
    return records
  }

  private init?(reading rest: inout ArraySlice<UInt8>) {
    func next(_ count: Int) -> ArraySlice<UInt8>? {
      guard rest.count >= count else { return nil }
      defer { rest.removeFirst(count) }
      return rest.prefix(count)
    }
    func number<N: FixedWidthInteger & UnsignedInteger>(_: N.Type) -> N? {
      next(N.bitWidth / 8)?.reduce(0) { $0 << 8 | N($1) }
    }
    func payload() -> [UInt8]? { number(UInt32.self).flatMap { next(Int($0)) }.map(Array.init) }
    guard let kind = next(1)?.first.flatMap(Kind.init), let family = number(UInt64.self) else {
      return nil
    }
    switch kind {
    case .event:
      guard let seq = number(UInt64.self), let audience = number(UInt64.self),
        let device = number(UInt32.self), let command = next(16).flatMap({ ID128(bytes: $0) }),
        let at = number(UInt64.self), let payload = payload()
      else { return nil }
      self = .event(
        StoredEvent(
          family: FamilyID(family), seq: seq, audience: Audience(rawValue: audience),
          device: DeviceID(device), command: command,
          at: Instant(milliseconds: Int64(bitPattern: at)), payload: payload))
    case .passcodeLock:
      guard let payload = payload() else { return nil }
      self = .passcodeLock(StoredPasscodeLock(family: FamilyID(family), payload: payload))
    }
  }
}
