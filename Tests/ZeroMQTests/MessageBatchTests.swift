import Testing
import ZeroMQ

@Suite struct MessageBatchTests {
  @Test("keeps messages in their order, more than it had room for, and is filled again")
  func keeps() throws {
    let context = try Context()
    let left = try Socket(.pair, in: context)
    let right = try Socket(.pair, in: context)
    try right.bind("inproc://mailbag")
    try left.connect("inproc://mailbag")
    var bag = MessageBatch()
    var message = Multipart(maximumParts: 2)
    for count in [3, 100, 40] {
      for number in 0..<count {
        // Small ones are inside of their frame, large ones are not.
        let body = [UInt8](repeating: UInt8(number), count: number % 2 == 0 ? 3 : 300)
        #expect(try left.send([[UInt8(number)], body]) == .sent)
        #expect(try right.receive(into: &message) == .message)
        bag.put(&message)
      }
      #expect(bag.count == count)
      for number in 0..<count {
        #expect(bag[number].count == 2 && bag[number].bytes(0) == [UInt8(number)])
        #expect(bag[number].bytes(1).count == (number % 2 == 0 ? 3 : 300))
        #expect(bag[number].bytes(1).allSatisfy { $0 == UInt8(number) })
      }
      bag.removeAll()
      #expect(bag.count == 0)
    }
  }
}
