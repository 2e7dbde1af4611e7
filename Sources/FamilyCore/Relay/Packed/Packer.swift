import FamilyModel

/// What can be written as few bytes, and read again by this process alone: no version, no check.
protocol Packable {
  func pack(_ packer: inout Packer)
  init(_ packed: inout Unpacker)
}

/// Writes values one after the other.
///
/// It writes to memory that it has by itself: an array asks at each byte whether it is its own and has room.
struct Packer: ~Copyable {
  /// Bytes at the beginning: enough for nearly every family.
  private static let room = 4_096

  private var bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 8)
  private var count = 0

  private init() {}

  deinit { bytes.deallocate() }

  /// The value's bytes, without room for more.
  static func pack(_ value: some Packable) -> [UInt8] {
    var packer = Packer()
    value.pack(&packer)
    return [UInt8](unsafeUninitializedCapacity: packer.count) { array, count in
      UnsafeMutableRawBufferPointer(array).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: packer.bytes[..<packer.count]))
      count = packer.count
    }
  }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if bytes.count - count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: 2 * bytes.count + more, alignment: 8)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    bytes.deallocate()
    bytes = larger
  }

  @inline(__always)
  mutating func add(_ value: some Packable) { value.pack(&self) }

  /// Seven bits a byte, the lowest first: small numbers take little, and most are small.
  @inline(__always)
  mutating func add(_ number: UInt64) {
    reserve(10)
    guard number <= 0x7F else { return addLong(number) }
    bytes[count] = UInt8(truncatingIfNeeded: number)
    count += 1
  }

  private mutating func addLong(_ number: UInt64) {
    var rest = number
    while rest > 0x7F {
      bytes[count] = UInt8(truncatingIfNeeded: rest) | 0x80
      count += 1
      rest >>= 7
    }
    bytes[count] = UInt8(truncatingIfNeeded: rest)
    count += 1
  }

  /// Always eight bytes: for numbers that are as good as random.
  mutating func add(fixed number: UInt64) {
    reserve(8)
    bytes.storeBytes(of: number, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  mutating func add(_ part: [UInt8]) { part.withUnsafeBytes { add($0) } }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  private mutating func add(_ part: UnsafeRawBufferPointer) {
    add(UInt64(part.count))
    reserve(part.count)
    UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: part)
    count += part.count
  }

  mutating func add(_ isSo: Bool) {
    reserve(1)
    bytes[count] = isSo ? 1 : 0
    count += 1
  }
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

  @inline(__always)
  mutating func number() -> UInt64 {
    let byte = bytes[index]
    guard byte < 0x80 else { return longNumber() }
    index += 1
    return UInt64(byte)
  }

  private mutating func longNumber() -> UInt64 {
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
    // By index, here and below: what is only looked at is not copied.
    for index in indices { self[index].pack(&packer) }
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
    for index in entries.indices {
      entries[index].key.pack(&packer)
      entries[index].value.pack(&packer)
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
