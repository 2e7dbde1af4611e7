import Testing

@testable import ZeroMQ

@Suite struct RouteTableTests {
  private func route(_ number: UInt32) -> [UInt8] {
    [0] + withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  @Test("a route table agrees with a dictionary after random changes", arguments: 1...5)
  func random(seed: UInt64) {
    var state = seed
    func next(_ limit: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % limit
    }
    var table = RouteTable()
    var expected: [Int32: (number: UInt32, sent: Int)] = [:]
    for step in 0..<20_000 {
      let descriptor = Int32(next(150))
      switch next(4) {
      case 0:
        // Few slots, so that routes collide.
        let number = UInt32(next(400)) &* 64
        guard !expected.values.contains(where: { $0.number == number }) else { continue }
        table.insert(number, descriptor, read: 0)
        expected[descriptor] = (number, 0)
      case 1:
        table.remove(descriptor)
        expected[descriptor] = nil
      case 2:
        guard let number = expected[descriptor]?.number else { continue }
        table.send(step, to: route(number))
        expected[descriptor]?.sent += step
      default:
        guard let (number, sent) = expected[descriptor] else { continue }
        #expect(table.descriptor(of: route(number)) == descriptor, "seed \(seed)")
        #expect(table.drain(route(number))?.sent ?? 0 == sent, "seed \(seed)")
        expected[descriptor]?.sent = 0
      }
    }
    let moved = Dictionary(uniqueKeysWithValues: table.drain().map { ($0.descriptor, $0.sent) })
    #expect(moved == expected.compactMapValues { $0.sent > 0 ? $0.sent : nil }, "seed \(seed)")
    #expect(table.drain().isEmpty)
    #expect(table.descriptor(of: [1, 2]) == nil && table.descriptor(of: route(7)) == nil)
  }
}
