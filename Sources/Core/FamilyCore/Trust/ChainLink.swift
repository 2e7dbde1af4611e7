package import FamilyModel

/// The hashes of an audience's chain.
extension Event {
  /// The hash of this event after an event with the hash `previous`.
  ///
  /// - Parameter digest: The unkeyed digest of the family's devices.
  package func hash(
    after previous: ChainHash, in family: FamilyID, digest: ([UInt8]) -> [UInt8]
  ) -> ChainHash {
    ChainHash(digest: digest(chainBytes(after: previous, in: family)))
  }

  /// The hashed bytes: the previous hash, what the relay adds, and what the device signs, with the
  /// contents in place of their digests. Questions and decisions, which are nearly all traffic, have
  /// an encoding that copies their parts.
  private func chainBytes(after previous: ChainHash, in family: FamilyID) -> [UInt8] {
    // malloc serves up to 1,032 bytes from a cache of the thread.
    Packer.bytes(capacity: 1_000) { out in
      out.add(fixed: Self.chainLabel.byteSwapped)
      out.add(family.rawValue)
      out.add(big: previous)
      out.add(seq)
      out.add(audience.rawValue)
      out.add(big: command)
      out.add(UInt64(device.rawValue))
      out.add(UInt64(bitPattern: at.milliseconds))
      out.add(signature)
      switch body {
      case .asked(let header, .sealed(let content)):
        out.add(4)
        out.add(big: header.id)
        out.add(UInt64(header.child.rawValue))
        out.add(header.parts)
        out.add(header.expiration)
        out.add(content)
      case .decided(let decision):
        out.add(7)
        out.add(big: decision.question)
        out.add(decision.choice.id)
        out.add(UInt64(decision.choice.answer.rawValue))
      default:
        out.add(0)
        out.add(signedParts(in: family))
        // The signed bytes have the app of an in-person answer only as a digest.
        if case .answeredInPerson(let header, _, _, _) = body { out.add(header.app.rawValue) }
      }
    }
  }

  /// The first bytes of a hashed event: "pr-chain".
  private static let chainLabel: UInt64 = 0x7072_2D63_6861_696E

  private func signedParts(in family: FamilyID) -> [UInt8] {
    SignedBytes.of(
      body, command, in: family, audience, by: signature?.signer ?? DeviceID(0),
      knowing: signature?.known ?? Knowledge(), question: nil, hiddenDigest: \.hiddenBytes,
      contentDigest: \.sealedBytes)
  }
}

extension Packer {
  fileprivate mutating func add(big id: ID128) {
    add(fixed: id.high.byteSwapped)
    add(fixed: id.low.byteSwapped)
  }

  fileprivate mutating func add(big hash: ChainHash) {
    add(big: hash.first)
    add(big: hash.second)
  }

  fileprivate mutating func add(big position: ChainPosition) {
    add(position.seq)
    add(big: position.hash)
  }

  fileprivate mutating func add(_ signature: Signature?) {
    guard let signature else { return add(0) }
    add(1)
    add(UInt64(signature.signer.rawValue))
    add(big: signature.known.family)
    add(big: signature.known.audience)
    add(UInt64(signature.known.heads.count))
    for head in signature.known.heads {
      add(head.audience.rawValue)
      add(big: head.position)
    }
    signature.withBytes { add($0) }
  }
}

extension Content {
  /// The bytes as they travel; empty for an open content, which travels in tests only.
  fileprivate var sealedBytes: [UInt8] {
    if case .sealed(let bytes) = self { bytes } else { [] }
  }
}

extension ChainHash {
  /// The hash with these bytes. Other counts than 32 exist in tests of machines without
  /// cryptography; their bytes are folded.
  init(digest: [UInt8]) {
    if let hash = ChainHash(bytes: digest) {
      self = hash
      return
    }
    var halves = [ID128(high: 0, low: 0), ID128(high: 0, low: 0)]
    for (index, byte) in digest.enumerated() {
      let half = index & 1
      halves[half].low = (halves[half].low ^ UInt64(byte)) &* 0x100_0000_01B3
      halves[half].high ^= halves[half].low
    }
    self.init(first: halves[0], second: halves[1])
  }
}

extension BoundBytes {
  mutating func add(_ hash: ChainHash) {
    add(hash.first)
    add(hash.second)
  }

  mutating func add(_ position: ChainPosition) {
    add(position.seq)
    add(position.hash)
  }

  mutating func add(_ known: Knowledge) {
    add(known.family)
    add(known.audience)
    add(UInt32(known.heads.count))
    for head in known.heads {
      add(head.audience.rawValue)
      add(head.position)
    }
  }
}
