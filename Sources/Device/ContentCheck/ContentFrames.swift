public import FamilyModel

/// A request of the content check, as frames after the empty delimiter: version, id, media type,
/// picture.
public struct ContentRequest: Sendable, Hashable {
  /// The version of the interface that this code speaks.
  public static let version: UInt8 = 1
  /// Bytes of an id.
  public static let idBytes = 8
  static let parts = 4

  /// Eight bytes that the reply repeats.
  public var id: [UInt8]
  /// The picture to be checked.
  public var picture: Avatar

  /// A request with this id, of which only the first eight bytes count.
  public init(id: UInt64, picture: Avatar) {
    self.id = (0..<8).map { UInt8(truncatingIfNeeded: id >> (56 - 8 * $0)) }
    self.picture = picture
  }

  /// The frames, without the delimiter.
  public func encode() -> [[UInt8]] {
    [[Self.version], id, Array(picture.mediaType.utf8), picture.bytes]
  }

  /// Reads the frames after the delimiter.
  ///
  /// - Throws: `malformed`, `unsupportedVersion`, `tooLarge`, and what `Avatar.validate` throws.
  public init(_ frames: [[UInt8]]) throws(Problem) {
    guard let version = frames.first, version.count == 1 else { throw .malformed }
    guard version[0] == Self.version else { throw .unsupportedVersion }
    guard frames.count == Self.parts, frames[1].count == Self.idBytes else { throw .malformed }
    guard frames[2].count <= ContentLimits.mediaTypeBytes else { throw .tooLarge }
    id = frames[1]
    picture = Avatar(mediaType: String(decoding: frames[2], as: UTF8.self), bytes: frames[3])
    try picture.validate()
  }

  /// The id in frames that may be malformed; zeros if there is none.
  static func id(in frames: [[UInt8]]) -> [UInt8] {
    frames.count > 1 && frames[1].count == idBytes
      ? frames[1] : [UInt8](repeating: 0, count: idBytes)
  }
}

/// A reply of the content check, as frames after the empty delimiter: version, id, verdict,
/// problem.
public struct ContentReply: Sendable, Hashable {
  /// The id of the request; zeros if it had none.
  public var id: [UInt8]
  /// The verdict; `unknown` where there is a problem.
  public var verdict: ContentVerdict
  /// Why there is no verdict; `nil` if there is no more to say.
  public var problem: Problem?

  /// A verdict.
  public init(id: [UInt8], _ verdict: ContentVerdict) {
    self.id = id
    self.verdict = verdict
  }

  /// A refusal.
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

  /// Reads the frames after the delimiter; `nil` if they are no reply. A verdict that is not known,
  /// or that comes with a problem, is `unknown`.
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
