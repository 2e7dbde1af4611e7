import FamilyModel

/// What can be written as few bytes, and read again by this process alone: no version, no check.
protocol Packable {
  func pack(_ packer: inout Packer)
  init(_ packed: inout Unpacker)
}

/// Writes values one after the other.
struct Packer {
  private var bytes: [UInt8] = []

  /// Packs the value alone into bytes without room for more; the room to write in is kept.
  mutating func pack(_ value: some Packable) -> [UInt8] {
    bytes.removeAll(keepingCapacity: true)
    value.pack(&self)
    return bytes.fitted
  }

  mutating func add(_ value: some Packable) { value.pack(&self) }

  /// Seven bits a byte, the lowest first: small numbers take little.
  mutating func add(_ number: UInt64) {
    var rest = number
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Always eight bytes: for numbers that are as good as random.
  mutating func add(fixed number: UInt64) {
    withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
  }

  mutating func add(_ bytes: [UInt8]) {
    add(UInt64(bytes.count))
    self.bytes.append(contentsOf: bytes)
  }

  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func add(_ isSo: Bool) { bytes.append(isSo ? 1 : 0) }
}

/// Reads what a ``Packer`` wrote, in the same order.
struct Unpacker {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0

  private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  static func unpack<Value: Packable>(_ bytes: [UInt8], as: Value.Type) -> Value {
    bytes.withUnsafeBytes { bytes in
      var unpacker = Unpacker(bytes)
      return Value(&unpacker)
    }
  }

  mutating func number() -> UInt64 {
    var (number, shift): (UInt64, UInt64) = (0, 0)
    while true {
      let byte = bytes[index]
      index += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }

  mutating func fixed() -> UInt64 {
    defer { index += 8 }
    return bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
  }

  mutating func array() -> [UInt8] { [UInt8](next()) }
  mutating func text() -> String { String(decoding: next(), as: UTF8.self) }

  mutating func isSo() -> Bool {
    defer { index += 1 }
    return bytes[index] != 0
  }

  mutating func value<Value: Packable>() -> Value { Value(&self) }

  private mutating func next() -> UnsafeRawBufferPointer {
    let count = Int(number())
    defer { index += count }
    return UnsafeRawBufferPointer(rebasing: bytes[index..<index + count])
  }
}

extension Array: Packable where Element: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(count))
    for element in self { element.pack(&packer) }
  }

  init(_ packed: inout Unpacker) {
    let count = Int(packed.number())
    self = []
    guard count > 0 else { return }
    reserveCapacity(count)
    for _ in 0..<count { append(Element(&packed)) }
  }
}

extension Optional: Packable where Wrapped: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(self != nil)
    self?.pack(&packer)
  }

  init(_ packed: inout Unpacker) { self = packed.isSo() ? Wrapped(&packed) : nil }
}

extension SmallMap: Packable where Key: Packable, Value: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(entries.count))
    for entry in entries {
      entry.key.pack(&packer)
      entry.value.pack(&packer)
    }
  }

  init(_ packed: inout Unpacker) {
    let count = Int(packed.number())
    var entries: [Entry] = []
    if count > 0 { entries.reserveCapacity(count) }
    for _ in 0..<count {
      let key = Key(&packed)
      entries.append(Entry(key: key, value: Value(&packed)))
    }
    self.init(sorted: entries)
  }
}
