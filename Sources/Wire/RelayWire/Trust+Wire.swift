public import FamilyModel
import Foundation
import SwiftProtobuf

extension Signature {
  var wire: PBSignature {
    .with {
      $0.signer = signer.rawValue
      $0.seen = basedOnSeq
      $0.value = Data(bytes)
    }
  }

  init(_ wire: PBSignature) throws(Problem) {
    self.init(
      signer: DeviceID(wire.signer), basedOnSeq: wire.seen,
      bytes: try Wire.signatureBytes(wire.value))
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
