public import FamilyModel

/// The state of a snapshot at a start. Values that stay packed share its memory.
public final class OpenedSnapshot: Sendable {
  /// The events that the snapshot replaces.
  public let coverage: SnapshotCoverage
  let bytes: [UInt8]
  let coding: any RecordCoding

  init(_ coverage: SnapshotCoverage, _ bytes: [UInt8], _ coding: any RecordCoding) {
    (self.coverage, self.bytes, self.coding) = (coverage, bytes, coding)
  }
}

extension Snapshots {
  /// Reads and opens a stored snapshot in parts, so that its sealed bytes need no memory.
  ///
  /// - Parameter count: The number of its bytes.
  /// - Returns: `nil` for a snapshot of another version or device.
  /// - Throws: The errors of `next`.
  public func read(_ count: Int, _ next: NextBytes) throws -> OpenedSnapshot? {
    guard let (coverage, rest) = try StoredSnapshot.coverage(count, next),
      rest <= Limits.snapshotBytes, let state = try open(rest, next)
    else { return nil }
    return OpenedSnapshot(coverage, state, coding)
  }

  func read(_ snapshot: [UInt8]) -> OpenedSnapshot? {
    try? snapshot.readParts { try read($0, $1) }
  }
}

/// A snapshot as it is stored: the format version, the size of the coverage, the coverage, and the
/// sealed state.
enum StoredSnapshot {
  /// Bytes of the format version and of the size.
  private static let headBytes = 5
  /// The most bytes of a coverage. Above: no snapshot.
  private static let largestCoverage = 64 * 1_024

  /// The bytes before the sealed state; `nil` if the coverage is too long.
  static func head(_ coverage: SnapshotCoverage) -> [UInt8]? {
    let coverage = Packer.pack(coverage)
    guard coverage.count <= largestCoverage else { return nil }
    let size = withUnsafeBytes(of: UInt32(coverage.count).littleEndian) { [UInt8]($0) }
    return [SnapshotCoverage.formatVersion] + size + coverage
  }

  /// Reads the coverage of a stored snapshot, and the number of bytes after it; `nil` for other bytes or
  /// another format version.
  static func coverage(_ count: Int, _ next: NextBytes) throws -> (SnapshotCoverage, rest: Int)? {
    guard count >= headBytes else { return nil }
    let head = try [UInt8](headBytes, from: next)
    let size = head.dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) }
    let rest = count - headBytes - size
    guard head[0] == SnapshotCoverage.formatVersion, size <= largestCoverage, rest >= 0,
      let coverage = Unpacker.unpack(try [UInt8](size, from: next), as: SnapshotCoverage.self)
    else { return nil }
    return (coverage, rest)
  }
}

extension SnapshotCoverage {
  /// Reads the coverage of a stored snapshot; `nil` for other bytes or another format version.
  public init?(of snapshot: [UInt8]) {
    guard let stored = try? snapshot.readParts({ try StoredSnapshot.coverage($0, $1) }) else {
      return nil
    }
    self = stored.0
  }
}

extension SnapshotCoverage: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(seq)
    packer.add(heads)
  }

  init(_ packed: inout Unpacker) {
    let seq = packed.number()
    self.init(seq: seq, heads: packed.value())
  }
}
