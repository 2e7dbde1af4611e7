import FamilyModel

/// A value with a compact binary form without type information. The reader must know the type: see
/// ``Snapshot``.
protocol Packable {
  func pack(_ packer: inout Packer)
  init(_ packed: inout Unpacker)
}

/// Writes values one after the other.
///
/// The packer owns its memory. An array would check uniqueness and capacity at each byte.
struct Packer: ~Copyable {
  /// Initial bytes: enough for nearly every family.
  private static let initialCapacity = 4_096

  private var bytes: UnsafeMutableRawBufferPointer
  private(set) var count = 0
  /// The encoding of values that travel, in a device's snapshot.
  let coding: (any RecordCoding)?

  private init(capacity: Int, _ coding: (any RecordCoding)?) {
    bytes = .allocate(byteCount: capacity, alignment: 8)
    self.coding = coding
  }

  deinit { bytes.deallocate() }

  /// The value's bytes, without unused capacity.
  static func pack(_ value: some Packable) -> [UInt8] {
    bytes { value.pack(&$0) }
  }

  /// The bytes that the body writes, without unused capacity.
  ///
  /// - Parameter capacity: The expected number of bytes.
  static func bytes(
    capacity: Int = initialCapacity, coding: (any RecordCoding)? = nil,
    _ write: (inout Packer) -> Void
  ) -> [UInt8] {
    var packer = Packer(capacity: capacity, coding)
    write(&packer)
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

  /// Adds a number as a varint: seven bits per byte, the lowest first. Most numbers are small.
  @inline(__always)
  mutating func add(_ number: UInt64) {
    reserve(10)
    guard number <= 0x7F else { return addLong(number) }
    bytes[count] = UInt8(truncatingIfNeeded: number)
    count += 1
  }

  private mutating func addLong(_ number: UInt64) {
    var remainder = number
    while remainder > 0x7F {
      bytes[count] = UInt8(truncatingIfNeeded: remainder) | 0x80
      count += 1
      remainder >>= 7
    }
    bytes[count] = UInt8(truncatingIfNeeded: remainder)
    count += 1
  }

  /// Adds a number in eight bytes: shorter than a varint for hashes and ids.
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

  /// Adds the count and the bytes.
  mutating func add(_ part: UnsafeRawBufferPointer) {
    add(UInt64(part.count))
    append(part)
  }

  /// Adds the bytes without their count.
  mutating func append(_ part: UnsafeRawBufferPointer) {
    reserve(part.count)
    UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: part)
    count += part.count
  }

  mutating func add(_ bool: Bool) {
    reserve(1)
    bytes[count] = bool ? 1 : 0
    count += 1
  }
}

/// Reads the values that a ``Packer`` wrote, in the same order. Other bytes also produce values,
/// but set `hasFailed`.
struct Unpacker {
  /// A smaller part of a snapshot is copied.
  private static let sharedPart = 16

  private var position: UnsafeRawPointer
  private let end: UnsafeRawPointer
  private var hasFailed = false
  /// The snapshot that owns the bytes; `nil` for other bytes.
  private let snapshot: OpenedSnapshot?

  private init(_ position: UnsafeRawPointer, _ count: Int, _ snapshot: OpenedSnapshot?) {
    self.position = position
    end = position + count
    self.snapshot = snapshot
  }

  /// The encoding of values that travel, in a device's snapshot.
  var coding: (any RecordCoding)? { snapshot?.coding }

  /// The value; `nil` if the bytes are not those of exactly one value.
  static func unpack<Value: Packable>(_ bytes: [UInt8], as: Value.Type) -> Value? {
    read(bytes) { Value(&$0) }
  }

  /// The result of the body; `nil` unless the body has read exactly the bytes.
  static func read<Value>(_ bytes: [UInt8], _ body: (inout Unpacker) -> Value) -> Value? {
    bytes.withUnsafeBytes { read($0, nil, body) }
  }

  /// The result of the body; `nil` unless the body has read exactly the snapshot.
  static func read<Value>(_ snapshot: OpenedSnapshot, _ body: (inout Unpacker) -> Value) -> Value? {
    snapshot.bytes.withUnsafeBytes { read($0, snapshot, body) }
  }

  private static func read<Value>(
    _ bytes: UnsafeRawBufferPointer, _ snapshot: OpenedSnapshot?,
    _ body: (inout Unpacker) -> Value
  ) -> Value? {
    guard let start = bytes.baseAddress else { return nil }
    var unpacker = Unpacker(start, bytes.count, snapshot)
    let value = body(&unpacker)
    return unpacker.hasFailed || unpacker.position < unpacker.end ? nil : value
  }

  /// The value at the beginning of the bytes.
  static func value<Value: Packable>(in bytes: UnsafeRawBufferPointer) -> Value {
    read(in: bytes) { Value(&$0) }
  }

  /// The result of the body, which reads from the beginning of the bytes.
  static func read<Value>(in bytes: UnsafeRawBufferPointer, _ body: (inout Unpacker) -> Value)
    -> Value
  {
    var unpacker = Unpacker(bytes.baseAddress!, bytes.count, nil)
    return body(&unpacker)
  }

  private var remaining: Int { end - position }

  /// Marks the bytes as invalid. Every later read returns zero or an empty value.
  mutating func fail() {
    hasFailed = true
    position = end
  }

  @inline(__always)
  mutating func number() -> UInt64 {
    guard position < end else { return longNumber() }
    let byte = position.load(as: UInt8.self)
    guard byte < 0x80 else { return longNumber() }
    position += 1
    return UInt64(byte)
  }

  private mutating func longNumber() -> UInt64 {
    var (number, shift): (UInt64, UInt64) = (0, 0)
    while position < end {
      let byte = position.load(as: UInt8.self)
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    fail()
    return 0
  }

  /// Reads a count of elements, each of at least one byte.
  mutating func count() -> Int {
    let count = number()
    guard count <= remaining else {
      fail()
      return 0
    }
    return Int(count)
  }

  mutating func fixed() -> UInt64 {
    guard remaining >= 8 else {
      fail()
      return 0
    }
    defer { position += 8 }
    return UInt64(littleEndian: position.loadUnaligned(as: UInt64.self))
  }

  mutating func array() -> [UInt8] { [UInt8](next()) }

  /// The bytes of an array. A large part of a snapshot shares its memory. A small one would keep all of
  /// that memory.
  mutating func slice() -> ArraySlice<UInt8> {
    let part = next()
    guard let snapshot,
      part.count >= max(snapshot.bytes.count / Self.sharedPart, Limits.historyInMemory)
    else {
      return ArraySlice(part)
    }
    let end = snapshot.bytes.count - remaining
    return snapshot.bytes[(end - part.count)..<end]
  }

  mutating func text() -> String { String(decoding: next(), as: UTF8.self) }

  mutating func bool() -> Bool { number() != 0 }

  mutating func value<Value: Packable>() -> Value { Value(&self) }

  /// The bytes of an array where they are.
  mutating func next() -> UnsafeRawBufferPointer {
    let count = count()
    defer { position += count }
    return UnsafeRawBufferPointer(start: position, count: count)
  }
}

extension Array: Packable where Element: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(count))
    // Access by index, here and below, avoids a copy of each element.
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

  init(_ packed: inout Unpacker) { self = packed.bool() ? Wrapped(&packed) : nil }
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

/// In any order: two runs may give one value different bytes.
extension Dictionary: Packable where Key: Packable, Value: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(count))
    for (key, value) in self {
      key.pack(&packer)
      value.pack(&packer)
    }
  }

  init(_ packed: inout Unpacker) {
    let count = packed.count()
    self.init(minimumCapacity: count)
    for _ in 0..<count {
      let key = Key(&packed)
      self[key] = Value(&packed)
    }
  }
}

/// In any order, as a dictionary.
extension Set: Packable where Element: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(count))
    for element in self { element.pack(&packer) }
  }

  init(_ packed: inout Unpacker) {
    let count = packed.count()
    self.init(minimumCapacity: count)
    for _ in 0..<count { insert(Element(&packed)) }
  }
}
