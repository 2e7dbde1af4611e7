import Crypto
import FamilyModel
import Testing

@testable import FamilyTrust

/// The seal of a device's snapshot.
@Suite struct SnapshotSealTests {
  private let seal = SnapshotSeal(key: SymmetricKey(size: .bits256))
  private let part = SnapshotSeal.partBytes + SnapshotSeal.overhead

  /// The sealed bytes, which the seal receives in two pieces.
  private func sealedBytes(_ count: Int, by other: SnapshotSeal? = nil) -> [UInt8]? {
    let bytes = bytes(count)
    let (first, second) = (Array(bytes.prefix(count / 3)), Array(bytes.dropFirst(count / 3)))
    var sealed: [UInt8] = [7]
    let isSealed = (other ?? seal).seal([first, second], into: &sealed)
    return isSealed && sealed[0] == 7 ? Array(sealed.dropFirst()) : nil
  }

  private func opened(_ sealed: some Collection<UInt8>) -> [UInt8]? {
    try? Array(sealed).readParts { try seal.open($0, $1) }
  }

  /// A failed expectation shows no megabytes.
  private func isOpened(_ sealed: some Collection<UInt8>) -> Bool { opened(sealed) != nil }

  private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
  }

  @Test(
    "O11: what is sealed opens again, of any length",
    arguments: [0, 1, 131_071, 131_072, 131_073, 400_000, 5_000_000])
  func opens(_ count: Int) throws {
    let sealed = try #require(sealedBytes(count))
    #expect(opened(sealed) == bytes(count))
    let parts = max(1, (count + 131_071) / 131_072)
    #expect(sealed.count == SnapshotSeal.nameBytes + count + SnapshotSeal.overhead * parts)
  }

  /// The name and the parts of a snapshot with three parts.
  private func sealedParts() throws -> (name: [UInt8], parts: [ArraySlice<UInt8>]) {
    let sealed = try #require(sealedBytes(3 * SnapshotSeal.partBytes))
    let starts = stride(from: SnapshotSeal.nameBytes, to: sealed.count, by: part)
    return (Array(sealed.prefix(SnapshotSeal.nameBytes)), starts.map { sealed[$0..<$0 + part] })
  }

  @Test("O11: a snapshot whose parts are left out, repeated, exchanged or changed does not open")
  func parts() throws {
    let (sealed, other) = (try sealedParts(), try sealedParts())
    #expect(isOpened(sealed.name + sealed.parts.joined()))
    let orders = [
      [0, 1], [1, 2], [0, 2], [0, 2, 1], [1, 0, 2], [0, 0, 1, 2], [0, 1, 2, 2], [],
    ]
    for order in orders {
      #expect(!isOpened(sealed.name + order.flatMap { sealed.parts[$0] }), "\(order)")
    }
    // The same device sealed both.
    for index in 0..<3 {
      var parts = sealed.parts
      parts[index] = other.parts[index]
      #expect(!isOpened(sealed.name + parts.joined()))
    }
    #expect(!isOpened(other.name + sealed.parts.joined()))
    let whole = sealed.name + sealed.parts.joined()
    for place in [0, 16, part + 15, part + 16, whole.count - 1] {
      var changed = whole
      changed[place] ^= 1
      #expect(!isOpened(changed))
    }
    #expect(!isOpened(whole.dropLast()) && !isOpened(whole + [0]))
  }

  @Test("O11: the error of a read ends the opening", arguments: 0...4)
  func unreadable(_ reads: Int) throws {
    struct Unreadable: Error {}
    let sealed = try #require(sealedBytes(3 * SnapshotSeal.partBytes))
    var left = reads
    func opened() throws -> [UInt8]? {
      try sealed.readParts { count, next in
        try seal.open(count) { buffer in
          left -= 1
          if left < 0 { throw Unreadable() }
          try next(buffer)
        }
      }
    }
    // The name and three parts.
    if reads < 4 {
      #expect(throws: Unreadable.self) { try opened() }
    } else {
      #expect(try opened()?.count == 3 * SnapshotSeal.partBytes)
    }
  }

  @Test("O11: the seal of another device does not open")
  func key() throws {
    let other = SnapshotSeal(key: SymmetricKey(size: .bits256))
    let sealed = try #require(sealedBytes(10, by: other))
    #expect(!isOpened(sealed))
  }
}
