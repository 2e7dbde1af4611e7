import FamilyModel
import RelayWire

/// Encoded requests of one kind. Each is encoded once for each size of its varints and patched
/// afterwards, because clients must be cheap on the machine that they share with the relay.
struct RequestTemplates {
  /// The fields that differ between two requests of the kind.
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
      _ number: UInt64, _ offset: Int?, _ bytes: UnsafeMutableRawBufferPointer
    ) {
      if let offset { Varint.write(number, to: bytes, at: offset) }
    }

    private static func write(
      _ id: ID128, _ offsets: [Int], _ bytes: UnsafeMutableRawBufferPointer
    ) {
      for offset in offsets {
        bytes.storeBytes(of: id.high.bigEndian, toByteOffset: offset, as: UInt64.self)
        bytes.storeBytes(of: id.low.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
      }
    }
  }

  private let encode: (Numbers) -> [UInt8]
  /// Templates by the varint sizes of the family number and the sequence number.
  private var templates = [Template?](repeating: nil, count: 11 * 11)

  init(_ encode: @escaping (Numbers) -> [UInt8]) { self.encode = encode }

  /// Calls the body with the request for these numbers. The bytes are valid during the call.
  mutating func withBytes<R>(_ numbers: Numbers, _ body: ([UInt8]) throws -> R) rethrows -> R {
    let index = Self.size(numbers.family) * 11 + Self.size(numbers.seq)
    if templates[index] == nil { templates[index] = template(like: numbers) }
    templates[index]!.patch(numbers)
    return try body(templates[index]!.bytes)
  }

  private func template(like numbers: Numbers) -> Template {
    let command = ID128(high: 0x5EED_0001_F00D_0001, low: 0x5EED_0002_F00D_0002)
    let question = ID128(high: 0x5EED_0003_F00D_0003, low: 0x5EED_0004_F00D_0004)
    // The smallest number of that varint size; its successor has the same size.
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
    func offsets(of id: ID128) -> [Int] {
      let wanted = id.bytes
      return bytes.indices.dropLast(15).filter { bytes[$0..<$0 + 16].elementsEqual(wanted) }
    }
    return Template(
      bytes: bytes, family: difference { $0.family += 1 }, seq: difference { $0.seq += 1 },
      command: offsets(of: command), question: offsets(of: question))
  }

  /// The number's varint size, in bytes.
  private static func size(_ number: UInt64) -> Int {
    max(1, (70 - number.leadingZeroBitCount) / 7)
  }
}
