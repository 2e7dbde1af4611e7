import FamilyModel
import RelayWire

/// A kind of request that is encoded once for numbers of as many bytes, and then only patched: clients must be
/// cheap on the machine that they share with the relay.
struct RequestTemplates {
  /// What differs from one request of the kind to the next.
  struct Numbers {
    var family: UInt64
    var command = ID128(high: 0, low: 0)
    var question = ID128(high: 0, low: 0)
    var seq: UInt64 = 1
  }

  private struct Template {
    var bytes: [UInt8]
    var family, seq: Int?
    var command, question: [Int]

    mutating func patch(_ numbers: Numbers) {
      bytes.withUnsafeMutableBytes { [family, seq, command, question] bytes in
        Self.write(numbers.family, family, bytes)
        Self.write(numbers.seq, seq, bytes)
        Self.write(numbers.command, command, bytes)
        Self.write(numbers.question, question, bytes)
      }
    }

    private static func write(
      _ number: UInt64, _ place: Int?, _ bytes: UnsafeMutableRawBufferPointer
    ) {
      guard var place else { return }
      var rest = number
      while rest > 0x7F {
        bytes[place] = UInt8(truncatingIfNeeded: rest) | 0x80
        rest >>= 7
        place += 1
      }
      bytes[place] = UInt8(rest)
    }

    private static func write(
      _ id: ID128, _ places: [Int], _ bytes: UnsafeMutableRawBufferPointer
    ) {
      for place in places {
        bytes.storeBytes(of: id.high.bigEndian, toByteOffset: place, as: UInt64.self)
        bytes.storeBytes(of: id.low.bigEndian, toByteOffset: place + 8, as: UInt64.self)
      }
    }
  }

  private let encode: (Numbers) -> [UInt8]
  /// By the bytes of the family's number and of the event's, as protobuf writes them.
  private var made = [Template?](repeating: nil, count: 11 * 11)

  init(_ encode: @escaping (Numbers) -> [UInt8]) { self.encode = encode }

  /// The request with these numbers, until the next one.
  mutating func withBytes<R>(_ numbers: Numbers, _ body: ([UInt8]) throws -> R) rethrows -> R {
    let index = Self.size(numbers.family) * 11 + Self.size(numbers.seq)
    if made[index] == nil { made[index] = template(like: numbers) }
    made[index]!.patch(numbers)
    return try body(made[index]!.bytes)
  }

  private func template(like numbers: Numbers) -> Template {
    let command = ID128(high: 0x5EED_0001_F00D_0001, low: 0x5EED_0002_F00D_0002)
    let question = ID128(high: 0x5EED_0003_F00D_0003, low: 0x5EED_0004_F00D_0004)
    // The first numbers of that size; the ones behind them have it, too.
    func first(_ number: UInt64) -> UInt64 { 1 << (7 * UInt64(Self.size(number) - 1)) }
    let example = Numbers(
      family: first(numbers.family), command: command, question: question,
      seq: first(numbers.seq))
    let bytes = encode(example)
    func difference(_ change: (inout Numbers) -> Void) -> Int? {
      var other = example
      change(&other)
      return zip(bytes, encode(other)).enumerated().first { $1.0 != $1.1 }?.offset
    }
    func places(of id: ID128) -> [Int] {
      let wanted = id.bytes
      return bytes.indices.dropLast(15).filter { bytes[$0..<$0 + 16].elementsEqual(wanted) }
    }
    return Template(
      bytes: bytes, family: difference { $0.family += 1 }, seq: difference { $0.seq += 1 },
      command: places(of: command), question: places(of: question))
  }

  /// Bytes of the number in protobuf.
  private static func size(_ number: UInt64) -> Int {
    max(1, (70 - number.leadingZeroBitCount) / 7)
  }
}
