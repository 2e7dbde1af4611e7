import FamilyModel
import RelayWire

/// Checks that every decodable message survives a round trip. A decoder rejects other bytes with a
/// `Problem`.
func fuzzWire(_ bytes: UnsafeRawBufferPointer) {
  guard let kind = bytes.first else { return }
  let body = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
  switch kind % 6 {
  case 0: checkRoundTrip(body, Envelope.decode) { $0.encode() }
  case 1: checkRoundTrip(body, decodeReply) { $0.encode() }
  case 2: checkRoundTrip(body, { try Broadcast.decode(Array($0)) }) { $0.encode() }
  case 3: checkRoundTrip(body, { try Event.decode(Array($0)) }) { $0.encode() }
  case 4: checkRoundTrip(body, AppRequest.decode) { $0.encode() }
  default: checkRoundTrip(body, AppReply.decode) { $0.encode() }
  }
}

/// Decodes a reply. The unreadable events of a page are left out of its encoding, so that a reply
/// with such events is encoded and decoded once before the comparison.
private func decodeReply(_ bytes: UnsafeRawBufferPointer) throws -> ReplyEnvelope {
  let reply = try ReplyEnvelope.decode(bytes)
  guard reply.unreadableEvents > 0 else { return reply }
  return try reply.encode().withUnsafeBytes { try ReplyEnvelope.decode($0) }
}

private func checkRoundTrip<T: Equatable>(
  _ bytes: UnsafeRawBufferPointer, _ decode: (UnsafeRawBufferPointer) throws -> T,
  _ encode: (T) -> [UInt8]
) {
  guard let first = try? decode(bytes) else { return }
  let encoded = encode(first)
  // A page of events may be encoded longer than it was received.
  guard encoded.count <= Limits.frameBytes else { return }
  guard let second = try? encoded.withUnsafeBytes({ try decode($0) }), second == first else {
    fatalError("\(T.self) differs after a round trip")
  }
}
