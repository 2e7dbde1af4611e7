import FamilyModel

/// A CURVE public key as a value without an allocation, which threads exchange without contention.
struct PeerKey: Hashable, Sendable {
  private var parts: (UInt64, UInt64, UInt64, UInt64)

  /// - Returns: `nil` unless there are 32 bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    func part(_ offset: Int) -> UInt64 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }
    parts = (part(0), part(8), part(16), part(24))
  }

  static func == (a: PeerKey, b: PeerKey) -> Bool { a.parts == b.parts }

  func hash(into hasher: inout Hasher) {
    hasher.combine(parts.0)
    hasher.combine(parts.1)
    hasher.combine(parts.2)
    hasher.combine(parts.3)
  }
}
