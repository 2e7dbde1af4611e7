import FamilyModel

extension ReplyEnvelope {
  /// Encodes `accepted` on the fast path; `nil` for every other reply.
  var fastPathBytes: [UInt8]? {
    guard case .accepted(let id, let seq) = reply else { return nil }
    return FrameWriter.bytes(capacity: 96) { out in
      out.number(1, UInt64(Wire.version))
      out.number(2, device.family.rawValue)
      out.number(3, UInt64(device.device.rawValue))
      out.number(4, requestID)
      out.message(5) { out in
        out.id(1, id)
        out.number(2, seq)
      }
    }
  }

  /// Decodes `accepted` on the fast path; `nil` sends the frame to swift-protobuf.
  init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    var device = DeviceAddress(family: FamilyID(0), device: DeviceID(0))
    var id: UInt64 = 0
    var version: UInt32 = 0
    var accepted: Reply?
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 5) {
      case 1: version = reader.uint32() ?? 0
      case 2:
        guard let value = reader.varint() else { return nil }
        device.family = FamilyID(value)
      case 3:
        guard let value = reader.uint32() else { return nil }
        device.device = DeviceID(value)
      case 4:
        guard let value = reader.varint() else { return nil }
        id = value
      case 5:
        guard let slice = reader.slice() else { return nil }
        var inner = FrameReader(slice)
        guard inner.field(lengths: 1 << 1) == 1, let command = inner.id(),
          inner.field(lengths: 0) == 2, let seq = inner.varint(), inner.isAtEnd
        else { return nil }
        accepted = .accepted(command, seq: seq)
      default: return nil
      }
    }
    guard version == Wire.version, let accepted else { return nil }
    self.init(device: device, requestID: id, reply: accepted)
  }
}

extension Broadcast {
  /// Encodes the broadcast of an encoded event on the fast path.
  static func fastPathBytes(event bytes: [UInt8]) -> [UInt8] {
    FrameWriter.bytes(capacity: bytes.count + 16) { out in
      out.number(1, UInt64(Wire.version))
      out.bytes(2, bytes, always: true)
    }
  }

  /// Encodes a receipt on the fast path; `nil` for every other broadcast.
  var fastPathBytes: [UInt8]? {
    guard case .receipt(let audience, let receipt) = self else { return nil }
    return FrameWriter.bytes(capacity: 64) { out in
      out.number(1, UInt64(Wire.version))
      out.message(4) { out in
        out.number(1, audience.rawValue)
        out.message(2) { out in
          out.number(1, receipt.delivered)
          out.number(2, receipt.read)
        }
      }
    }
  }

  /// Decodes the broadcast of an `asked` or `decided` event on the fast path; `nil` sends the bytes
  /// to swift-protobuf.
  init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    guard reader.field(lengths: 0) == 1, reader.varint() == UInt64(Wire.version),
      reader.field(lengths: 1 << 2) == 2, let slice = reader.slice(), reader.isAtEnd,
      let event = Event(fastPath: slice)
    else { return nil }
    self = .event(event)
  }
}
