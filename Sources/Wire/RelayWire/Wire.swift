import FamilyModel
import SwiftProtobuf

/// The protocol: its version, and what all its messages have in common.
enum Wire {
  /// The version that is sent; a message of another version is refused with `unsupportedVersion`.
  static let version: UInt32 = 1

  /// Reads a message after a look at its size.
  static func parse<M: SwiftProtobuf.Message>(_ type: M.Type, _ bytes: UnsafeRawBufferPointer)
    throws(Problem) -> M
  {
    // The size first: the copy of something too large would be the sender's to choose.
    guard bytes.count <= Limits.frameBytes else { throw .tooLarge }
    return try parse(type, [UInt8](bytes))
  }

  static func parse<M: SwiftProtobuf.Message>(_ type: M.Type, _ bytes: [UInt8])
    throws(Problem) -> M
  {
    guard bytes.count <= Limits.frameBytes else { throw .tooLarge }
    do { return try M(serializedBytes: bytes) } catch { throw .malformed }
  }

  /// Encoding fails only for missing required fields and bad `Any`s, which the schema does not have.
  static func encode(_ message: some SwiftProtobuf.Message) -> [UInt8] {
    try! message.serializedBytes()
  }

  static func check(version: UInt32) throws(Problem) {
    guard version == Wire.version else { throw .unsupportedVersion }
  }

  static func id(_ bytes: some Collection<UInt8>) throws(Problem) -> ID128 {
    guard let id = ID128(bytes: bytes) else { throw .malformed }
    return id
  }

  /// An Ed25519 signature.
  static func proof(_ bytes: some Collection<UInt8>) throws(Problem) -> [UInt8] {
    guard bytes.count == 64 else { throw .malformed }
    return [UInt8](bytes)
  }

  static func value<T>(_ value: T?) throws(Problem) -> T {
    guard let value else { throw .malformed }
    return value
  }

  /// A repeated field, with a bound on its length.
  static func map<A, B>(
    _ values: [A], most: Int, _ convert: (A) throws(Problem) -> B
  ) throws(Problem) -> [B] {
    guard values.count <= most else { throw .tooLarge }
    var result: [B] = []
    result.reserveCapacity(values.count)
    for value in values { result.append(try convert(value)) }
    return result
  }
}
