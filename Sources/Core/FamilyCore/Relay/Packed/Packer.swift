import FamilyModel

/// What can be written as few bytes, and read again by who knows that they are of this form: see ``Snapshot``.
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
    bytes.storeBytes(of: number.littleEndian, toByteOffset: count, as: UInt64.self)
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

/// Reads what a ``Packer`` wrote, in the same order. Of bytes that it did not write it makes something, too, and
/// knows that it is nothing.
struct Unpacker {
  private var place: UnsafeRawPointer
  private let end: UnsafeRawPointer
  private var isWrong = false

  private init(_ place: UnsafeRawPointer, _ count: Int) {
    self.place = place
    end = place + count
  }

  /// The value; `nil` where the bytes are not those of one.
  static func unpack<Value: Packable>(_ bytes: [UInt8], as: Value.Type) -> Value? {
    bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      var unpacker = Unpacker(start, bytes.count)
      let value = Value(&unpacker)
      return unpacker.isWrong || unpacker.place < unpacker.end ? nil : value
    }
  }

  private var left: Int { end - place }

  /// These are not bytes of a value: from here on all is zero.
  mutating func fail() {
    isWrong = true
    place = end
  }

  @inline(__always)
  mutating func number() -> UInt64 {
    guard place < end else { return longNumber() }
    let byte = place.load(as: UInt8.self)
    guard byte < 0x80 else { return longNumber() }
    place += 1
    return UInt64(byte)
  }

  private mutating func longNumber() -> UInt64 {
    var (number, shift): (UInt64, UInt64) = (0, 0)
    while place < end {
      let byte = place.load(as: UInt8.self)
      place += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    fail()
    return 0
  }

  /// A number of things that take a byte each, at least.
  mutating func count() -> Int {
    let count = number()
    guard count <= left else {
      fail()
      return 0
    }
    return Int(count)
  }

  mutating func fixed() -> UInt64 {
    guard left >= 8 else {
      fail()
      return 0
    }
    defer { place += 8 }
    return UInt64(littleEndian: place.loadUnaligned(as: UInt64.self))
  }

  mutating func array() -> [UInt8] { [UInt8](next()) }
  mutating func text() -> String { String(decoding: next(), as: UTF8.self) }

  mutating func isSo() -> Bool { number() != 0 }

  mutating func value<Value: Packable>() -> Value { Value(&self) }

  private mutating func next() -> UnsafeRawBufferPointer {
    let count = count()
    defer { place += count }
    return UnsafeRawBufferPointer(start: place, count: count)
  }
}

extension Array: Packable where Element: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(count))
    // By index, here and below: what is only looked at is not copied.
    for index in indices { self[index].pack(&packer) }
  }

  init(_ packed: inout Unpacker) {
    let count = packed.count()
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
    let count = packed.count()
    var entries: [Entry] = []
    if count > 0 { entries.reserveCapacity(count) }
    for _ in 0..<count {
      let key = Key(&packed)
      entries.append(Entry(key: key, value: Value(&packed)))
    }
    self.init(sorted: entries)
  }
}
