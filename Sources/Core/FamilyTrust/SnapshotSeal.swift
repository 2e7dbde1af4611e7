import Crypto
public import FamilyCore
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
    return Snapshots(coding: SnapshotCoding(), seal: seal.seal, open: seal.open)
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

  func seal(_ bytes: [UInt8]) -> [UInt8]? {
    let name = (0..<Self.nameBytes).map { _ in UInt8.random(in: 0...255) }
    var sealed = name
    let parts = bytes.count / Self.partBytes + 1
    sealed.reserveCapacity(Self.nameBytes + bytes.count + Self.overhead * parts)
    var (start, number) = (0, UInt64(0))
    repeat {
      let end = min(bytes.count, start + Self.partBytes)
      let binding = Self.binding(name, number, isLast: end == bytes.count)
      guard
        let part = try? AES.GCM.seal(bytes[start..<end], using: key, authenticating: binding)
          .combined
      else { return nil }
      sealed += part
      (start, number) = (end, number + 1)
    } while start < bytes.count
    return sealed
  }

  func open(_ sealed: UnsafeRawBufferPointer, _ read: (UnsafeRawBufferPointer) -> Void) -> Bool {
    guard sealed.count >= Self.nameBytes else { return false }
    let name = [UInt8](sealed[..<Self.nameBytes])
    let state = UnsafeMutableRawBufferPointer.allocate(byteCount: sealed.count, alignment: 16)
    defer { state.deallocate() }
    var (start, number, count) = (Self.nameBytes, UInt64(0), 0)
    repeat {
      let end = min(sealed.count, start + Self.partBytes + Self.overhead)
      let part = Data(sealed[start..<end])
      let binding = Self.binding(name, number, isLast: end == sealed.count)
      guard let box = try? AES.GCM.SealedBox(combined: part),
        let bytes = try? AES.GCM.open(box, using: key, authenticating: binding)
      else { return false }
      bytes.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: state[count...]))
      (start, number, count) = (end, number + 1, count + bytes.count)
    } while start < sealed.count
    read(UnsafeRawBufferPointer(rebasing: state[..<count]))
    return true
  }

  /// Binds a part to its snapshot, its place and the end. No part can be left out, repeated, or
  /// exchanged for one of another snapshot.
  private static func binding(_ name: [UInt8], _ number: UInt64, isLast: Bool) -> Data {
    withUnsafeBytes(of: number.bigEndian) { Data(name) + Data($0) } + Data([isLast ? 1 : 0])
  }
}
