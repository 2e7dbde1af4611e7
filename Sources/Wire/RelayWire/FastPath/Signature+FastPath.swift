import FamilyModel

extension Signature {
  /// The number of the signature's field in requests and events.
  static let field: UInt64 = 61

  /// Decodes a signature on the fast path; `nil` sends the message to swift-protobuf, also for the
  /// signature of a roster.
  init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    var signer = DeviceID(0)
    var known = Knowledge()
    var value: UnsafeRawBufferPointer?
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 2 | 1 << 3 | 1 << 4) {
      case 1:
        guard let value = reader.uint32() else { return nil }
        signer = DeviceID(value)
      case 2:
        guard let slice = reader.slice(), let position = ChainPosition(fastPath: slice) else {
          return nil
        }
        known.family = position
      case 3:
        value = reader.slice()
      case 4:
        guard let slice = reader.slice(), let position = ChainPosition(fastPath: slice) else {
          return nil
        }
        known.audience = position
      default: return nil
      }
    }
    guard let value, value.count == Signature.byteCount else { return nil }
    self.init(signer: signer, knowing: known, bytes: value)
  }
}

extension ChainPosition {
  fileprivate init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    self.init()
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 3) {
      case 2:
        guard let value = reader.varint() else { return nil }
        seq = value
      case 3:
        guard let value = reader.hash() else { return nil }
        hash = value
      default: return nil
      }
    }
  }
}

extension Signature? {
  /// An upper bound of the encoded size in bytes.
  var sizeBound: Int {
    guard let signature = self else { return 0 }
    return 32 + Signature.byteCount + 64 * (3 + signature.known.heads.count)
  }
}

extension FrameReader {
  /// A hash of 32 bytes.
  mutating func hash() -> ChainHash? { slice().flatMap { ChainHash(loading: $0) } }
}

extension FrameWriter {
  mutating func signature(_ signature: Signature?) {
    guard let signature else { return }
    message(Signature.field) { out in
      out.number(1, UInt64(signature.signer.rawValue))
      out.position(2, signature.known.family)
      signature.withBytes { out.bytes(3, $0) }
      out.position(4, signature.known.audience)
      for head in signature.known.heads {
        out.message(5) { out in
          out.number(1, head.audience.rawValue)
          out.number(2, head.position.seq)
          out.hash(3, head.position.hash)
        }
      }
      out.hash(6, signature.known.roster)
    }
  }

  /// Writes a hash, unless it is the one before the first event.
  mutating func hash(_ field: UInt64, _ hash: ChainHash) {
    if !hash.isZero { hash.withBytes { bytes(field, $0) } }
  }

  private mutating func position(_ field: UInt64, _ position: ChainPosition) {
    guard position != ChainPosition() else { return }
    message(field) { out in
      out.number(2, position.seq)
      out.hash(3, position.hash)
    }
  }
}
