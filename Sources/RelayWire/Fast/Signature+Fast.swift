import FamilyModel

extension Signature {
  /// The field of a request or event that holds its signature.
  static let field: UInt64 = 61

  /// A signature, read in place; `nil`: swift-protobuf has to read it.
  init?(fast bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    self.init(signer: DeviceID(0), seen: 0, bytes: [])
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 3) {
      case 1:
        guard let value = reader.uint32() else { return nil }
        signer = DeviceID(value)
      case 2:
        guard let value = reader.varint() else { return nil }
        seen = value
      case 3:
        guard let value = reader.array() else { return nil }
        self.bytes = value
      default: return nil
      }
    }
    guard self.bytes.count == 64 else { return nil }
  }
}

extension Signature? {
  /// More bytes than its encoding has.
  var sizeBound: Int { self.map { 32 + $0.bytes.count } ?? 0 }
}

extension FrameWriter {
  mutating func signature(_ signature: Signature?) {
    guard let signature else { return }
    message(Signature.field) { out in
      out.number(1, UInt64(signature.signer.rawValue))
      out.number(2, signature.seen)
      out.bytes(3, signature.bytes)
    }
  }
}
