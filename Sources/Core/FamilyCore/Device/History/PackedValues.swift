/// Values in their packed form, one after the other. A value takes time only when it is read. The
/// values of a snapshot share its memory until others join them.
struct PackedValues<Value: Packable & Sendable>: Sendable {
  private var bytes: ArraySlice<UInt8> = []
  /// The end of each value in the bytes.
  private var ends: [Int] = []

  init() {}

  /// Packs the values.
  init(_ values: some Sequence<Value>) {
    var ends: [Int] = []
    let packed = Packer.bytes { packer in
      for value in values {
        packer.add(value)
        ends.append(packer.count)
      }
    }
    bytes = packed[...]
    self.ends = ends
  }

  var count: Int { ends.count }

  subscript(index: Int) -> Value {
    bytes.withUnsafeBytes { Unpacker.value(in: UnsafeRawBufferPointer(rebasing: $0[range(index)])) }
  }

  private func range(_ index: Int) -> Range<Int> {
    (index == 0 ? 0 : ends[index - 1])..<ends[index]
  }

  /// Appends the packed form of a value of others.
  mutating func append(_ index: Int, of other: PackedValues) {
    other.bytes.withUnsafeBytes { bytes += $0[other.range(index)] }
    ends.append(bytes.count)
  }

  /// Appends all values of others.
  mutating func append(_ other: PackedValues) {
    let start = bytes.count
    bytes += other.bytes
    ends += other.ends.map { start + $0 }
  }

  mutating func reserveCapacity(like other: PackedValues, _ more: PackedValues) {
    bytes.reserveCapacity(other.bytes.count + more.bytes.count)
    ends.reserveCapacity(other.count + more.count)
  }
}

extension PackedValues: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(count))
    for index in 0..<count { packer.add(UInt64(range(index).count)) }
    bytes.withUnsafeBytes { packer.add($0) }
  }

  init(_ packed: inout Unpacker) {
    let count = packed.count()
    ends.reserveCapacity(count)
    var end = 0
    for _ in 0..<count {
      end += packed.count()
      ends.append(end)
    }
    bytes = packed.slice()
    guard bytes.count != end else { return }
    packed.fail()
    (bytes, ends) = ([], [])
  }
}
