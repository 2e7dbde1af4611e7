import FamilyModel
import Foundation

extension OpaqueBody {
  /// The message, with the audience of a command.
  func wire(in audience: Audience?) -> PBOpaque {
    .with {
      if let audience { $0.audience = audience.rawValue }
      $0.kind = kind
      $0.body = Data(bytes)
    }
  }

  init(_ wire: PBOpaque) throws(Problem) {
    guard wire.kind >= Self.firstStatement else { throw .malformed }
    guard wire.body.count <= Limits.contentBytes else { throw .tooLarge }
    self.init(kind: wire.kind, bytes: [UInt8](wire.body))
  }

  /// The body of an encoded event as its field on the wire: number and bytes.
  ///
  /// - Throws: `malformed` unless exactly one length-delimited field can be the body.
  init(ofEvent bytes: [UInt8]) throws(Problem) {
    let bodies = bytes.withUnsafeBytes { bytes -> [OpaqueBody]? in
      var reader = FrameReader(bytes)
      var found: [OpaqueBody] = []
      while !reader.isAtEnd {
        guard let (number, value) = reader.anyField() else { return nil }
        guard Self.isBody(field: number), let value else { continue }
        found.append(OpaqueBody(kind: UInt32(number), bytes: [UInt8](value)))
      }
      return found
    }
    guard let bodies, bodies.count == 1 else { throw .malformed }
    guard bodies[0].bytes.count <= Limits.contentBytes else { throw .tooLarge }
    self = bodies[0]
  }

  /// Whether a field of an event is the event's body, in this version or in a later one. All others
  /// belong to the part that all kinds share.
  private static func isBody(field number: UInt64) -> Bool {
    switch number {
    case 61, 62: false
    case 10...99, 200..<UInt64(firstStatement): true
    default: false
    }
  }

  /// The field of an event that the body was read from.
  var field: [UInt8] {
    FrameWriter.bytes(capacity: bytes.count + 16) { $0.bytes(UInt64(kind), bytes, always: true) }
  }
}
