public import FamilyModel
import Foundation
import SwiftProtobuf

extension Signature {
  var wire: PBSignature {
    .with {
      $0.signer = signer.rawValue
      if known.family != ChainPosition() { $0.family = known.family.wire }
      $0.value = Data(bytes)
      if known.audience != ChainPosition() { $0.audience = known.audience.wire }
      $0.heads = known.heads.map(\.wire)
      $0.roster = known.roster.wire
    }
  }

  init(_ wire: PBSignature) throws(Problem) {
    self.init(
      signer: DeviceID(wire.signer),
      knowing: Knowledge(
        family: try ChainPosition(wire.family), audience: try ChainPosition(wire.audience),
        heads: try Wire.map(wire.heads, limit: Limits.audienceHeads) { head throws(Problem) in
          AudienceHead(Audience(rawValue: head.audience), try ChainPosition(head))
        }, roster: try ChainHash(wire: wire.roster)),
      bytes: try Wire.signatureBytes(wire.value))
  }
}

extension ChainHash {
  /// The bytes on the wire: none for the hash before the first event.
  var wire: Data { isZero ? Data() : Data(bytes) }

  init(wire: Data) throws(Problem) {
    if wire.isEmpty {
      self.init()
    } else {
      self = try Wire.require(ChainHash(bytes: [UInt8](wire)))
    }
  }
}

extension ChainPosition {
  var wire: PBChainPosition {
    .with {
      $0.seq = seq
      $0.hash = hash.wire
    }
  }

  init(_ wire: PBChainPosition) throws(Problem) {
    self.init(seq: wire.seq, hash: try ChainHash(wire: wire.hash))
  }
}

extension AudienceHead {
  var wire: PBChainPosition {
    var wire = position.wire
    wire.audience = audience.rawValue
    return wire
  }
}

func wire(_ audience: Audience, _ wraps: [KeyWrap]) -> PBKeyWraps {
  .with {
    $0.audience = audience.rawValue
    $0.wraps = wraps.map { wrap in
      .with {
        $0.key = Data(wrap.key.bytes)
        $0.reader = Data(wrap.reader)
        $0.value = Data(wrap.bytes)
      }
    }
  }
}

func keyWraps(_ wire: PBKeyWraps) throws(Problem) -> [KeyWrap] {
  try Wire.map(wire.wraps, limit: Limits.keyWraps) { wrap throws(Problem) in
    guard wrap.reader.count == 32, wrap.value.count <= Limits.keyWrapBytes else {
      throw .malformed
    }
    return KeyWrap(
      key: try Wire.id(wrap.key), reader: [UInt8](wrap.reader), bytes: [UInt8](wrap.value))
  }
}

func wire(_ audience: Audience, _ keys: [ContentKeyID]) -> PBKeyNames {
  .with {
    $0.audience = audience.rawValue
    $0.keys = keys.map { Data($0.bytes) }
  }
}

func keyNames(_ wire: PBKeyNames) throws(Problem) -> [ContentKeyID] {
  try Wire.map(wire.keys, limit: Limits.complaintKeys) { name throws(Problem) in
    try Wire.id(name)
  }
}

/// A sealed content with the name of its key: the bytes of ``FamilyModel/Content/sealed(_:)``.
public struct SealedContent: Hashable, Sendable {
  /// The name of the content key.
  public var key: ContentKeyID
  /// AES-256-GCM: nonce (12 bytes), ciphertext and tag (16 bytes).
  public var box: [UInt8]

  /// Creates a sealed content from its key's name and its box.
  public init(key: ContentKeyID, box: [UInt8]) {
    self.key = key
    self.box = box
  }

  /// Decodes ``bytes``; `nil` for any other bytes.
  public init?(_ bytes: [UInt8]) {
    guard let message = try? Wire.parse(PBSealed.self, bytes),
      let key = ID128(bytes: message.key)
    else { return nil }
    self.init(key: key, box: [UInt8](message.box))
  }

  /// The encoded sealed content.
  public var bytes: [UInt8] {
    Wire.encode(
      PBSealed.with {
        $0.key = Data(key.bytes)
        $0.box = Data(box)
      })
  }
}
