import Credentials
import FamilyModel
import RelayWire
import Testing

@Suite struct EnrolmentPassTests {
  private let passes = EnrolmentPass(secret: .init(repeating: 1, count: 32))
  private let key = [UInt8](repeating: 2, count: 32)

  @Test("X2: a pass is valid for one key in one family at one relay") func isValid() {
    let pass = passes.pass(FamilyID(1), key)
    #expect(passes.isValid(pass, FamilyID(1), key))
    #expect(!passes.isValid(pass, FamilyID(2), key))
    #expect(!passes.isValid(pass, FamilyID(1), .init(repeating: 3, count: 32)))
    let other = EnrolmentPass(secret: .init(repeating: 9, count: 32))
    #expect(!other.isValid(pass, FamilyID(1), key))
    for wrong in [[], Array(pass.dropLast()), pass + [0]] {
      #expect(!passes.isValid(wrong, FamilyID(1), key))
    }
  }

  @Test("a pass travels with an attachment and its reply only, up to its limit") func wire() throws
  {
    let device = DeviceAddress(family: FamilyID(1), device: DeviceID(2))
    for count in [0, 32, Limits.passBytes, Limits.passBytes + 1] {
      var request = Envelope(device: device, requestID: 1, request: .attach([]))
      request.pass = .init(repeating: 7, count: count)
      var reply = ReplyEnvelope(device: device, requestID: 1, reply: .attached([]))
      reply.pass = request.pass
      let (sent, answered) = (request.encode(), reply.encode())
      guard count <= Limits.passBytes else {
        #expect(throws: Problem.tooLarge) { try sent.withUnsafeBytes { try Envelope.decode($0) } }
        #expect(throws: Problem.tooLarge) {
          try answered.withUnsafeBytes { try ReplyEnvelope.decode($0) }
        }
        continue
      }
      #expect(try sent.withUnsafeBytes { try Envelope.decode($0) } == request)
      #expect(try answered.withUnsafeBytes { try ReplyEnvelope.decode($0) } == reply)
    }
  }
}
