import CZeroMQ

/// Z85 for keys (ZeroMQ RFC 32): 32 bytes ⇄ 40 characters.
enum Z85 {
  static let keySize = 32
  static let keyTextSize = 40
  private static let alphabet = Set(
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)

  static func encodeKey(_ bytes: [UInt8]) -> String {
    precondition(bytes.count == keySize)
    var text = [CChar](repeating: 0, count: keyTextSize + 1)
    zmq_z85_encode(&text, bytes, keySize)
    return string(text)
  }

  /// Decodes a key; `nil` for another length or alphabet, or a group of five characters above 32
  /// bits.
  static func decodeKey(_ text: String) -> [UInt8]? {
    // Checked here, so that the result does not depend on the strictness of the installed libzmq.
    guard text.utf8.count == keyTextSize, text.utf8.allSatisfy(alphabet.contains) else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: keySize)
    guard zmq_z85_decode(&bytes, text) != nil else { return nil }
    // The round trip proves that no group overflowed.
    return encodeKey(bytes) == text ? bytes : nil
  }

  static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
