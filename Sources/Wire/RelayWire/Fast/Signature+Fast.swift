import FamilyModel

extension Signature {
  /// The field of a request or event that holds its signature.
  static let field: UInt64 = 61

  /// A signature, read in place; `nil`: swift-protobuf has to read it.
  init?(fast bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    var (signer, seen) = (DeviceID(0), 0 as UInt64)
    var value: UnsafeRawBufferPointer?
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 3) {
      case 1:
        guard let value = reader.uint32() else { return nil }
        signer = DeviceID(value)
      case 2:
        guard let value = reader.varint() else { return nil }
        seen = value
      case 3:
        value = reader.slice()
      default: return nil
      }
    }
    guard let value, value.count == Signature.byteCount else { return nil }
    self.init(signer: signer, seen: seen, bytes: value)
  }
}

extension Signature? {
  /// More bytes than its encoding has.
  var sizeBound: Int { self == nil ? 0 : 32 + Signature.byteCount }
}

extension FrameWriter {
  mutating func signature(_ signature: Signature?) {
    guard let signature else { return }
    message(Signature.field) { out in
      out.number(1, UInt64(signature.signer.rawValue))
      out.number(2, signature.seen)
      signature.withBytes { out.bytes(3, $0) }
    }
  }
}
