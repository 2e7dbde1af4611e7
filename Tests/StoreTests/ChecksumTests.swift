import RelayStore
import Testing

@Suite struct ChecksumTests {
  @Test(
    "the checksum is CRC-32C, by the processor's instruction and by tables",
    arguments: [false, true])
  func examples(_ byTables: Bool) {
    // RFC 3720, appendix B.4.
    let examples: [(bytes: [UInt8], sum: UInt32)] = [
      (Array(repeating: 0, count: 32), 0x8A91_36AA),
      (Array(repeating: 0xFF, count: 32), 0x62A8_AB43),
      (Array(0..<32), 0x46DD_794E),
      (Array((0..<32).reversed()), 0x113F_DB5C),
      (Array("123456789".utf8), 0xE306_9283),
    ]
    for (bytes, sum) in examples {
      for cut in 0...bytes.count {
        var checksum = Checksum(byTables: byTables)
        checksum.add(Array(bytes[..<cut]))
        checksum.add(Array(bytes[cut...]))
        #expect(checksum.value == sum)
      }
    }
  }
}
