import FamilyModel

/// The fields of a broadcast event that a bench client needs, read in place without decoding the
/// message.
struct BroadcastPeek {
  enum Kind { case asked, approved, other }
  var kind = Kind.other
  var seq: UInt64 = 0
  var command = ID128(high: 0, low: 0)
  var question = ID128(high: 0, low: 0)

  /// Reads a broadcast; `nil` if it is not an event.
  init?(broadcast bytes: UnsafeRawBufferPointer) {
    var broadcast = Fields(bytes)
    while let (field, _, event) = broadcast.next() {
      if field == 2 {
        self.init(event: event)
        return
      }
    }
    return nil
  }

  private init(event bytes: UnsafeRawBufferPointer) {
    var event = Fields(bytes)
    while let (field, number, slice) = event.next() {
      switch field {
      case 1: seq = number
      case 4: command = Self.id(slice)
      case 13:
        var header = Fields(Self.first(slice))
        question = header.next().map { Self.id($0.slice) } ?? question
        kind = .asked
      case 16:
        var decision = Fields(slice)
        question = decision.next().map { Self.id($0.slice) } ?? question
        let choice = decision.next().map { Self.first($0.slice) }
        if choice?.elementsEqual("approve".utf8) == true { kind = .approved }
        // Only the signature follows a decision.
        return
      default: break
      }
    }
  }

  /// The bytes of a message's first field.
  private static func first(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var fields = Fields(bytes)
    return fields.next()?.slice ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private static func id(_ bytes: UnsafeRawBufferPointer) -> ID128 {
    guard bytes.count == 16 else { return ID128(high: 0, low: 0) }
    return ID128(
      high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}

/// The varint and length-delimited fields of a protobuf message. Iteration ends at any other wire
/// type.
private struct Fields {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func next() -> (field: UInt64, number: UInt64, slice: UnsafeRawBufferPointer)? {
    guard let key = varint(), let number = varint() else { return nil }
    let start = position
    switch key & 7 {
    case 0: break
    case 2:
      guard number <= bytes.count - start else { return nil }
      position += Int(number)
    default: return nil
    }
    return (key >> 3, number, UnsafeRawBufferPointer(rebasing: bytes[start..<position]))
  }

  private mutating func varint() -> UInt64? { Varint.read(bytes, at: &position) }
}
