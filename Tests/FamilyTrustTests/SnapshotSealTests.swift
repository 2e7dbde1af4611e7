import Crypto
import Testing

@testable import FamilyTrust

/// The seal of a device's snapshot.
@Suite struct SnapshotSealTests {
  private let seal = SnapshotSeal(key: SymmetricKey(size: .bits256))
  private let part = SnapshotSeal.partBytes + SnapshotSeal.overhead

  private func opened(_ sealed: some Collection<UInt8>) -> [UInt8]? {
    var opened: [UInt8]?
    let isOpen = Array(sealed).withUnsafeBytes { sealed in
      seal.open(sealed) { opened = Array($0) }
    }
    #expect(isOpen == (opened != nil))
    return opened
  }

  private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
  }

  @Test(
    "O11: what is sealed opens again, of any length",
    arguments: [0, 1, 131_071, 131_072, 131_073, 400_000])
  func opens(_ count: Int) throws {
    let sealed = try #require(seal.seal(bytes(count)))
    #expect(opened(sealed) == bytes(count))
    #expect(sealed.count == count + SnapshotSeal.overhead * max(1, (count + 131_071) / 131_072))
  }

  @Test("O11: a snapshot whose parts are left out, repeated, exchanged or changed does not open")
  func parts() throws {
    let sealed = try #require(seal.seal(bytes(3 * SnapshotSeal.partBytes)))
    let parts = stride(from: 0, to: sealed.count, by: part).map { sealed[$0..<$0 + part] }
    #expect(opened(parts.joined()) != nil)
    for order in [
      [0, 1], [1, 2], [0, 2], [0, 2, 1], [1, 0, 2], [0, 0, 1, 2], [0, 1, 2, 2], [],
    ] {
      #expect(opened(order.flatMap { parts[$0] }) == nil, "\(order)")
    }
    for place in [0, part - 1, part, sealed.count - 1] {
      var changed = sealed
      changed[place] ^= 1
      #expect(opened(changed) == nil)
    }
    #expect(opened(sealed.dropLast()) == nil && opened(sealed + [0]) == nil)
  }

  @Test("O11: the seal of another device does not open")
  func key() throws {
    let other = SnapshotSeal(key: SymmetricKey(size: .bits256))
    let sealed = try #require(other.seal(bytes(10)))
    #expect(opened(sealed) == nil)
  }
}
