import Crypto
public import FamilyCore
import FamilyModel
import Foundation
import RelayWire

extension DeviceKeys {
  private static let snapshotPurpose = Data("permission-relay snapshot 2".utf8)

  /// The means to make and read this device's snapshots.
  ///
  /// A snapshot has opened contents and content keys. A key that is derived from the device's
  /// agreement secret seals it, so that the store reveals no more than its sealed events do.
  public var snapshots: Snapshots {
    let secret = SymmetricKey(data: agreement.rawRepresentation)
    let seal = SnapshotSeal(
      key: HKDF<SHA256>.deriveKey(
        inputKeyMaterial: secret, info: Self.snapshotPurpose, outputByteCount: 32))
    return Snapshots(coding: SnapshotCoding(), seal: { seal.seal($0, into: &$1) }, open: seal.open)
  }
}

/// Seals bytes in parts, each with its number and the random name of the whole.
///
/// The cipher copies what it opens. Copies of megabytes would take most of a start's time, because the
/// kernel clears the memory of each one. A part's memory is used again for the next one.
struct SnapshotSeal: Sendable {
  /// Bytes of a part, except the last one.
  static let partBytes = 128 * 1_024
  /// Bytes that the cipher adds to a part: the nonce and the tag.
  static let overhead = 12 + 16
  /// Bytes of the name, which precede the parts.
  static let nameBytes = 16

  let key: SymmetricKey

  func seal(_ pieces: [[UInt8]], into sealed: inout [UInt8]) -> Bool {
    let count = pieces.reduce(0) { $0 + $1.count }
    let name = (0..<Self.nameBytes).map { _ in UInt8.random(in: 0...255) }
    let parts = count / Self.partBytes + 1
    sealed.reserveCapacity(sealed.count + Self.nameBytes + count + Self.overhead * parts)
    sealed += name
    var (part, rest, number) = ([UInt8](), count, UInt64(0))
    part.reserveCapacity(Self.partBytes)
    func append(isLast: Bool) -> Bool {
      let binding = Self.binding(name, number, isLast: isLast)
      guard let bytes = try? AES.GCM.seal(part, using: key, authenticating: binding).combined
      else { return false }
      sealed += bytes
      part.removeAll(keepingCapacity: true)
      number += 1
      return true
    }
    for piece in pieces {
      var start = 0
      while start < piece.count {
        let end = min(piece.count, start + Self.partBytes - part.count)
        part += piece[start..<end]
        (start, rest) = (end, rest - (end - start))
        if part.count == Self.partBytes, rest > 0, !append(isLast: false) { return false }
      }
    }
    return append(isLast: true)
  }

  func open(_ count: Int, _ next: NextBytes) throws -> [UInt8]? {
    guard count > Self.nameBytes else { return nil }
    let name = try [UInt8](Self.nameBytes, from: next)
    var (rest, number, part) = (count - Self.nameBytes, UInt64(0), Data())
    let state = try [UInt8](unsafeUninitializedCapacity: rest) { state, filled in
      Self.useLargePages(UnsafeMutableRawBufferPointer(state))
      while rest > 0 {
        let size = min(rest, Self.partBytes + Self.overhead)
        if part.count != size { part = Data(count: size) }
        try part.withUnsafeMutableBytes(next)
        let binding = Self.binding(name, number, isLast: rest == size)
        guard let box = try? AES.GCM.SealedBox(combined: part),
          let bytes = try? AES.GCM.open(box, using: key, authenticating: binding)
        else { return }
        _ = bytes.copyBytes(to: UnsafeMutableBufferPointer(rebasing: state[filled...]))
        (number, filled, rest) = (number + 1, filled + bytes.count, rest - size)
      }
    }
    return rest == 0 ? state : nil
  }

  /// A page of two megabytes costs the kernel a fraction of the time of as many small pages.
  private static func useLargePages(_ memory: UnsafeMutableRawBufferPointer) {
    let size = 2 * 1_024 * 1_024
    guard memory.count >= 2 * size, let start = memory.baseAddress else { return }
    let first = start.alignedUp(toMultipleOf: size)
    let count = (start + memory.count - first) / size * size
    madvise(UnsafeMutableRawPointer(mutating: first), count, MADV_HUGEPAGE)
  }

  /// Binds a part to its snapshot, its place and the end. No part can be left out, repeated, or
  /// exchanged for one of another snapshot.
  private static func binding(_ name: [UInt8], _ number: UInt64, isLast: Bool) -> Data {
    withUnsafeBytes(of: number.bigEndian) { Data(name) + Data($0) } + Data([isLast ? 1 : 0])
  }
}
