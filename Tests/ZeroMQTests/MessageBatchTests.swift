import Testing
import ZeroMQ

@Suite struct MessageBatchTests {
  @Test("keeps messages in order, grows beyond its capacity, and can be refilled")
  func keeps() throws {
    let context = try Context()
    let left = try Socket(.pair, in: context)
    let right = try Socket(.pair, in: context)
    try right.bind("inproc://batch")
    try left.connect("inproc://batch")
    var batch = MessageBatch()
    var message = Multipart(maximumParts: 2)
    for count in [3, 100, 40] {
      for number in 0..<count {
        // libzmq stores small messages inside the frame and large ones outside.
        let body = [UInt8](repeating: UInt8(number), count: number % 2 == 0 ? 3 : 300)
        #expect(try left.send([[UInt8(number)], body]) == .sent)
        #expect(try right.receive(into: &message) == .message)
        batch.append(&message)
      }
      #expect(batch.count == count)
      for number in 0..<count {
        #expect(batch[number].count == 2 && batch[number].bytes(0) == [UInt8(number)])
        #expect(batch[number].bytes(1).count == (number % 2 == 0 ? 3 : 300))
        #expect(batch[number].bytes(1).allSatisfy { $0 == UInt8(number) })
      }
      batch.removeAll()
      #expect(batch.count == 0)
    }
  }
}
