import FamilyModel

extension Signature {
  /// The number of the signature's field in requests and events.
  static let field: UInt64 = 61

  /// Decodes a signature on the fast path; `nil` sends the message to swift-protobuf.
  init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    var (signer, basedOnSeq) = (DeviceID(0), 0 as UInt64)
    var value: UnsafeRawBufferPointer?
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 3) {
      case 1:
        guard let value = reader.uint32() else { return nil }
        signer = DeviceID(value)
      case 2:
        guard let value = reader.varint() else { return nil }
        basedOnSeq = value
      case 3:
        value = reader.slice()
      default: return nil
      }
    }
    guard let value, value.count == Signature.byteCount else { return nil }
    self.init(signer: signer, basedOnSeq: basedOnSeq, bytes: value)
  }
}

extension Signature? {
  /// An upper bound of the encoded size in bytes.
  var sizeBound: Int { self == nil ? 0 : 32 + Signature.byteCount }
}

extension FrameWriter {
  mutating func signature(_ signature: Signature?) {
    guard let signature else { return }
    message(Signature.field) { out in
      out.number(1, UInt64(signature.signer.rawValue))
      out.number(2, signature.basedOnSeq)
      signature.withBytes { out.bytes(3, $0) }
    }
  }
}
