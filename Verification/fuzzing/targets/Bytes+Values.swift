import FamilyModel

/// Values of the model, often at the edges of their ranges.
extension Bytes {
  /// Whether an event of probability 1/`count` occurs. The end of the input decides `false`.
  mutating func isRare(_ count: Int) -> Bool { pick(count) == count - 1 }

  /// One of the elements. Precondition: there are 1 to 256.
  mutating func any<T>(_ values: [T]) -> T { values[pick(values.count)] }

  /// A number of 64 bits, mostly at the edge of a type or of a limit.
  mutating func edge() -> UInt64 {
    switch pick(16) {
    case 0: 0
    case 1: 1
    case 2: .max
    case 3: .max - 1
    case 4: 1 << 31
    case 5: 1 << 31 + 1
    case 6: UInt64(UInt32.max)
    case 7: 1 << 32
    case 8: UInt64(Limits.times.upperBound)
    case 9: UInt64(Limits.times.upperBound) + 1
    case 10: 1 << 63 - 1
    case 11: 1 << 63
    case 12: number()
    default: UInt64(byte())
    }
  }

  mutating func person() -> PersonID {
    PersonID(isRare(8) ? UInt32(truncatingIfNeeded: edge()) : UInt32(pick(7)))
  }

  mutating func device() -> DeviceID {
    DeviceID(isRare(8) ? UInt32(truncatingIfNeeded: edge()) : UInt32(pick(7)) * 10)
  }

  mutating func audience() -> Audience {
    switch pick(8) {
    case 0: .family
    case 1, 2: .account(person())
    case 3: Audience(rawValue: edge())
    default: .conversation(person())
    }
  }

  /// A moment near `now`, or far from it.
  mutating func instant(_ now: Instant) -> Instant {
    switch pick(8) {
    case 0: Instant(milliseconds: Int64(bitPattern: edge()))
    case 1: now - .minutes(byte())
    default: now + .seconds(10) * Int(byte())
    }
  }

  /// A command's id: mostly of a time that the relay accepts.
  mutating func commandID(_ now: Instant) -> CommandID {
    let time = isRare(8) ? edge() : UInt64(truncatingIfNeeded: instant(now).milliseconds)
    return CommandID(high: time << 16 | UInt64(byte()), low: UInt64(byte()))
  }

  /// A text: short, empty, maximal, too long, or of arbitrary characters.
  mutating func text(_ limit: Int) -> String {
    switch pick(8) {
    case 0: ""
    case 1: String(repeating: "m", count: limit)
    case 2: String(repeating: "m", count: limit + 1)
    case 3: String(decoding: chunk(), as: UTF8.self)
    case 4: "e\u{301}\u{202E}\u{0}"
    // The canonical forms of these are longer.
    case 5: String(repeating: any(["\u{130}", "\u{958}"]), count: limit / 3)
    default: any(["ada", "ben", "eve", "a"])
    }
  }

  /// An array: mostly small, sometimes empty, maximal or too long.
  mutating func array<T>(_ limit: Int, _ make: (inout Bytes) -> T) -> [T] {
    let count =
      switch pick(16) {
      case 0: 0
      case 1: limit
      case 2: limit + 1
      default: 1 + pick(3)
      }
    return (0..<count).map { _ in make(&self) }
  }

  /// A key of a device, or other bytes of a key's size.
  mutating func key() -> [UInt8] {
    Array(repeating: isRare(4) ? byte() : any([0, 10, 11, 20, 30, 31, 40, 50]), count: 32)
  }

  mutating func app() -> AppID { AppID(isRare(8) ? text(Limits.identifierBytes) : "a") }
}
