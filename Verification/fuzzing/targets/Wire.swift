import FamilyModel
import RelayWire

/// What was read, written and read again is the same; everything else is refused with a `Problem`.
func fuzzWire(_ bytes: UnsafeRawBufferPointer) {
  guard let kind = bytes.first else { return }
  let body = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
  switch kind % 6 {
  case 0: twice(body, Envelope.decode) { $0.encode() }
  case 1: twice(body, ReplyEnvelope.decode) { $0.encode() }
  case 2: twice(body, { try Broadcast.decode(Array($0)) }) { $0.encode() }
  case 3: twice(body, { try Event.decode(Array($0)) }) { $0.encode() }
  case 4: twice(body, AppRequest.decode) { $0.encode() }
  default: twice(body, AppReply.decode) { $0.encode() }
  }
}

private func twice<T: Equatable>(
  _ bytes: UnsafeRawBufferPointer, _ decode: (UnsafeRawBufferPointer) throws -> T,
  _ encode: (T) -> [UInt8]
) {
  guard let first = try? decode(bytes) else { return }
  let again = encode(first)
  // A page of events may be written longer than it was read.
  guard again.count <= Limits.frameBytes else { return }
  guard let second = try? again.withUnsafeBytes({ try decode($0) }), second == first else {
    fatalError("reads \(T.self) differently the second time")
  }
}
