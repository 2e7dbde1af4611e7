public import FamilyModel

/// A request of the content check, as frames after the empty delimiter: version, id, media type,
/// picture.
public struct ContentRequest: Sendable, Hashable {
  /// The supported version of the interface.
  public static let version: UInt8 = 1
  /// The length of an id in bytes.
  public static let idBytes = 8
  static let parts = 4

  /// Eight bytes that the reply repeats.
  public var id: [UInt8]
  /// The picture to check.
  public var picture: Avatar

  /// Creates a request. The id is sent big-endian.
  public init(id: UInt64, picture: Avatar) {
    self.id = (0..<8).map { UInt8(truncatingIfNeeded: id >> (56 - 8 * $0)) }
    self.picture = picture
  }

  /// The frames, without the delimiter.
  public func encode() -> [[UInt8]] {
    [[Self.version], id, Array(picture.mediaType.utf8), picture.bytes]
  }

  /// Decodes and validates the frames after the delimiter.
  ///
  /// - Throws: `malformed`, `unsupportedVersion`, `tooLarge`, or a problem of `Avatar.validate`.
  public init(_ frames: [[UInt8]]) throws(Problem) {
    guard let version = frames.first, version.count == 1 else { throw .malformed }
    guard version[0] == Self.version else { throw .unsupportedVersion }
    guard frames.count == Self.parts, frames[1].count == Self.idBytes else { throw .malformed }
    guard frames[2].count <= ContentLimits.mediaTypeBytes else { throw .tooLarge }
    id = frames[1]
    picture = Avatar(mediaType: String(decoding: frames[2], as: UTF8.self), bytes: frames[3])
    try picture.validate()
  }

  /// The id in frames that may be malformed, or zeros.
  static func id(in frames: [[UInt8]]) -> [UInt8] {
    frames.count > 1 && frames[1].count == idBytes
      ? frames[1] : [UInt8](repeating: 0, count: idBytes)
  }
}

/// A reply of the content check, as frames after the empty delimiter: version, id, verdict,
/// problem.
public struct ContentReply: Sendable, Hashable {
  /// The id of the request, or zeros for a request without a readable id.
  public var id: [UInt8]
  /// The verdict; `unknown` in a reply with a problem.
  public var verdict: ContentVerdict
  /// The reason for a missing verdict; `nil` in a reply with a verdict.
  public var problem: Problem?

  /// Creates a reply with a verdict.
  public init(id: [UInt8], _ verdict: ContentVerdict) {
    self.id = id
    self.verdict = verdict
  }

  /// Creates a reply that rejects a request.
  public init(id: [UInt8], _ problem: Problem) {
    self.id = id
    verdict = .unknown
    self.problem = problem
  }

  /// The frames, without the delimiter.
  public func encode() -> [[UInt8]] {
    let code = problem?.code ?? 0
    return [
      [ContentRequest.version], id, [verdict.rawValue],
      [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)],
    ]
  }

  /// Decodes the frames after the delimiter; `nil` for frames that are not a reply.
  ///
  /// An undefined verdict, or one beside a problem, becomes `unknown`.
  public init?(_ frames: [[UInt8]]) {
    guard frames.map(\.count) == [1, ContentRequest.idBytes, 1, 2],
      frames[0][0] == ContentRequest.version
    else { return nil }
    id = frames[1]
    let code = UInt16(frames[3][0]) << 8 | UInt16(frames[3][1])
    problem = code == 0 ? nil : Problem(code: code)
    verdict = code == 0 ? ContentVerdict(rawValue: frames[2][0]) ?? .unknown : .unknown
  }
}
