import ContentCheck
import FamilyModel
import PerceptualHash
import SiteNames

/// Checks that each message about a picture, a video or a site that can be read survives a round trip.
func fuzzContent(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  switch input.byte() % 8 {
  case 0:
    let frames = frames(&input)
    if let request = try? ContentRequest(frames) {
      check(request, try? ContentRequest(request.encode()))
    }
  case 1:
    let frames = frames(&input)
    if let reply = ContentReply(frames) { check(reply, ContentReply(reply.encode())) }
  case 2: check(input.rest(), DecoderGreeting.init(_:), \.bytes)
  case 3: check(input.rest(), DecoderReply.init(_:), \.bytes)
  case 4: check(input.rest(), VideoReply.init(_:), \.bytes)
  case 5: check(input.rest(), ContentVerdict.init(_:)) { [$0.rawValue] }
  case 6:
    // The site of a site's name is the same site, or rules for it would differ.
    let host = String(decoding: input.rest(), as: UTF8.self)
    if let site = Site(host: host) { check(site, Site(host: site.name)) }
  default: check(input.rest(), BlurReply.init(_:), \.bytes)
  }
}

private func frames(_ input: inout Bytes) -> [[UInt8]] {
  var frames: [[UInt8]] = []
  while !input.isAtEnd, frames.count < 6 { frames.append(input.chunk()) }
  return frames
}

private func check<Message: Equatable>(
  _ bytes: [UInt8], _ read: ([UInt8]) -> Message?, _ write: (Message) -> [UInt8]
) {
  if let message = read(bytes) { check(message, read(write(message))) }
}

private func check<Value: Equatable>(_ first: Value, _ second: Value?) {
  guard first == second else { fatalError("\(Value.self) differs after a round trip") }
}
