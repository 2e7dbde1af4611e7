import Testing

@testable import FamilyModel

@Suite struct VarintTests {
  @Test(
    "reading inverts appending and writing",
    arguments: [0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, 1 << 32, .max] as [UInt64])
  func roundTrip(_ number: UInt64) {
    var bytes: [UInt8] = [0xAA]
    Varint.append(number, to: &bytes)
    var written = [UInt8](repeating: 0xAA, count: bytes.count)
    written.withUnsafeMutableBytes { Varint.write(number, to: $0, at: 1) }
    #expect(written == bytes)
    var position = 1
    #expect(bytes.withUnsafeBytes { Varint.read($0, at: &position) } == number)
    #expect(position == bytes.count)
  }

  @Test(
    "truncated numbers and numbers above 64 bits are rejected",
    arguments: [
      [], [0x80], [UInt8](repeating: 0xFF, count: 9), [UInt8](repeating: 0x80, count: 9) + [2],
      [UInt8](repeating: 0x80, count: 10) + [1],
    ])
  func rejects(_ bytes: [UInt8]) {
    var position = 0
    #expect(bytes.withUnsafeBytes { Varint.read($0, at: &position) } == nil)
  }
}
