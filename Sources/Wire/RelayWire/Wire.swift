import FamilyModel
import SwiftProtobuf

/// The protocol's version and the checks that all messages share. docs/Protocol.md describes the
/// protocol.
enum Wire {
  /// The version that is sent.
  static let version: UInt32 = 1
  /// The versions that are accepted: the present one, and the one before it once there is one.
  static let versions: ClosedRange<UInt32> = 1...version

  /// Parses a message of at most `Limits.frameBytes`.
  static func parse<M: SwiftProtobuf.Message>(_ type: M.Type, _ bytes: UnsafeRawBufferPointer)
    throws(Problem) -> M
  {
    // Checked before the copy, because the sender chooses the size.
    guard bytes.count <= Limits.frameBytes else { throw .tooLarge }
    return try parse(type, [UInt8](bytes))
  }

  static func parse<M: SwiftProtobuf.Message>(_ type: M.Type, _ bytes: [UInt8])
    throws(Problem) -> M
  {
    guard bytes.count <= Limits.frameBytes else { throw .tooLarge }
    do { return try M(serializedBytes: bytes) } catch { throw .malformed }
  }

  /// Encoding throws only for missing required fields and invalid `Any`s; the schema has neither.
  static func encode(_ message: some SwiftProtobuf.Message) -> [UInt8] {
    try! message.serializedBytes()
  }

  /// - Throws: `unsupportedVersion` for a newer version or for none, `outdatedVersion` for one that is
  ///   accepted no more.
  static func check(version: UInt32, among versions: ClosedRange<UInt32> = versions)
    throws(Problem)
  {
    guard version > 0, version <= versions.upperBound else { throw .unsupportedVersion }
    guard version >= versions.lowerBound else { throw .outdatedVersion }
  }

  static func id(_ bytes: some Collection<UInt8>) throws(Problem) -> ID128 {
    guard let id = ID128(bytes: bytes) else { throw .malformed }
    return id
  }

  /// A moment that another process sent.
  ///
  /// - Throws: `malformed` outside ``Limits/times``.
  static func time(_ milliseconds: Int64) throws(Problem) -> Instant {
    guard Limits.times ~= milliseconds else { throw .malformed }
    return Instant(milliseconds: milliseconds)
  }

  /// The moment with these bits of a varint; `nil` outside ``Limits/times``.
  static func time(bits: UInt64) -> Instant? {
    bits <= UInt64(Limits.times.upperBound) ? Instant(milliseconds: Int64(bits)) : nil
  }

  /// The 64 bytes of an Ed25519 signature.
  static func signatureBytes(_ bytes: some Collection<UInt8>) throws(Problem) -> [UInt8] {
    guard bytes.count == 64 else { throw .malformed }
    return [UInt8](bytes)
  }

  /// A proof of enrolment.
  ///
  /// - Throws: `tooLarge` above ``Limits/passBytes``.
  static func pass(_ bytes: some Collection<UInt8>) throws(Problem) -> [UInt8] {
    guard bytes.count <= Limits.passBytes else { throw .tooLarge }
    return [UInt8](bytes)
  }

  /// A value of this many bytes.
  static func exactly(_ count: Int, _ bytes: some Collection<UInt8>) throws(Problem) -> [UInt8] {
    guard bytes.count == count else { throw .malformed }
    return [UInt8](bytes)
  }

  /// Throws `malformed` for `nil`.
  static func require<T>(_ value: T?) throws(Problem) -> T {
    guard let value else { throw .malformed }
    return value
  }

  /// Converts a repeated field.
  ///
  /// - Throws: `tooLarge` for more than `limit` values, or the error of `convert`.
  static func map<A, B>(
    _ values: [A], limit: Int, _ convert: (A) throws(Problem) -> B
  ) throws(Problem) -> [B] {
    guard values.count <= limit else { throw .tooLarge }
    var result: [B] = []
    result.reserveCapacity(values.count)
    for value in values { result.append(try convert(value)) }
    return result
  }

  /// Converts the names of at most `limit` sites.
  static func sites(_ names: [String], limit: Int) throws(Problem) -> [Site] {
    try map(names, limit: limit) { name throws(Problem) in try require(Site(name)) }
  }
}
