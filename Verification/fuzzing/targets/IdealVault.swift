import FamilyCore
import FamilyModel
import RelayWire
import Synchronization

/// Ideal cryptography: only the holder of a key signs and opens under it. The public keys of a
/// device are its number, repeated.
struct IdealVault: DeviceVault {
  let number: UInt8
  var agreementKey: [UInt8] { Self.key(number) }

  /// The number of keys made in the present run, so that each run is the same.
  static let made = Mutex<UInt64>(0)

  static func key(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 32) }

  static func security(_ device: UInt32) -> Security {
    Security(IdealVault(number: UInt8(truncatingIfNeeded: device)), organizerKey: key(10))
  }

  func sign(_ bytes: [UInt8]) -> [UInt8] { Self.mix([agreementKey, bytes], 64) }

  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    Self.verify(publicKey, signature, bytes)
  }
  @Sendable static func verify(_ key: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    signature == mix([key, bytes], 64)
  }
  @Sendable static func relayDigest(_ bytes: [UInt8]) -> [UInt8] { mix([[], bytes], 32) }

  func makeKey() -> [UInt8] {
    let number = Self.made.withLock { made in
      made += 1
      return made
    }
    return Self.mix([agreementKey, ID128(high: 0, low: number).bytes], 32)
  }
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? {
    Self.mix([reader, key, binding], 8) + key
  }
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    let key = Array(wrapped.dropFirst(8))
    return wrapped.prefix(8).elementsEqual(Self.mix([agreementKey, key, binding], 8)) ? key : nil
  }
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content {
    let box = Self.mix([key, binding, content.bytes], 8) + content.bytes
    return .sealed(SealedContent(key: name, box: box).bytes)
  }
  func keyName(of content: Content) -> ContentKeyID? {
    guard case .sealed(let bytes) = content else { return nil }
    return SealedContent(bytes)?.key
  }
  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    guard case .sealed(let bytes) = content, let sealed = SealedContent(bytes) else { return nil }
    let plain = Array(sealed.box.dropFirst(8))
    guard sealed.box.prefix(8).elementsEqual(Self.mix([key, binding, plain], 8)) else { return nil }
    return try? Content.sealed(plain).opened()
  }
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] { Self.mix([key, bytes], 32) }
  func bytes(of content: Content) -> [UInt8] { content.bytes }

  /// A hash of the parts with their lengths, stretched to `count` bytes.
  static func mix(_ parts: [[UInt8]], _ count: Int) -> [UInt8] {
    var state: UInt64 = 0xCBF2_9CE4_8422_2325
    for part in parts {
      state = (state ^ UInt64(part.count)) &* 0x0000_0100_0000_01B3
      for byte in part { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
    var words = IDSource(seed: state)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      withUnsafeBytes(of: words.next()) { bytes.append(contentsOf: $0) }
    }
    return Array(bytes.prefix(count))
  }
}
