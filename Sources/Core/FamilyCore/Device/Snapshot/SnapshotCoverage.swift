public import FamilyModel

/// The events that a snapshot replaces at a start: all of the family's log up to a position.
///
/// The device's store keeps the events. A device that ignores its snapshot needs them again.
public struct SnapshotCoverage: Hashable, Sendable {
  /// The version of a snapshot's bytes, and of all that a device derives from events. Every change
  /// of either must increment the version; `DeviceSnapshotTests` detect a forgotten increment. The
  /// seal around the bytes has a version of its own.
  static let formatVersion: UInt64 = 5

  /// The position in the family's log.
  public internal(set) var seq: UInt64
  /// The last covered position of each audience.
  var heads: SmallMap<Audience, UInt64>

  /// The last covered position of the audience; zero: none.
  public func head(of audience: Audience) -> UInt64 { heads[audience] ?? 0 }

  /// Whether the snapshot covers this position of the audience.
  func covers(_ audience: Audience, _ seq: UInt64) -> Bool { seq <= head(of: audience) }

  /// Whether the position should be covered and is not: the event arrived after the snapshot.
  func lacks(_ audience: Audience, _ seq: UInt64) -> Bool {
    seq <= self.seq && !covers(audience, seq)
  }
}

/// A snapshot as it is stored: the coverage, and the sealed state.
struct StoredSnapshot: Packable {
  var coverage: SnapshotCoverage
  var state: [UInt8]

  init(coverage: SnapshotCoverage, state: [UInt8]) {
    (self.coverage, self.state) = (coverage, state)
  }

  func pack(_ packer: inout Packer) {
    packer.add(SnapshotCoverage.formatVersion)
    packer.add(coverage.seq)
    packer.add(coverage.heads)
    packer.add(state)
  }

  init(_ packed: inout Unpacker) {
    coverage = Self.coverage(&packed)
    state = packed.array()
  }

  /// Reads the sealed state where it is.
  static func read<Value>(_ snapshot: [UInt8], _ body: (UnsafeRawBufferPointer) -> Value?) -> Value?
  {
    Unpacker.read(snapshot) { packed in
      _ = coverage(&packed)
      return body(packed.next())
    } ?? nil
  }

  fileprivate static func coverage(_ packed: inout Unpacker) -> SnapshotCoverage {
    if packed.number() != SnapshotCoverage.formatVersion { packed.fail() }
    return SnapshotCoverage(seq: packed.number(), heads: packed.value())
  }
}

extension SnapshotCoverage {
  /// Reads the coverage of a stored snapshot; `nil` for other bytes or another format version.
  public init?(of snapshot: [UInt8]) {
    let coverage = Unpacker.read(snapshot) { packed in
      let coverage = StoredSnapshot.coverage(&packed)
      // A copy of the state would take most of the time.
      _ = packed.next()
      return coverage
    }
    guard let coverage else { return nil }
    self = coverage
  }
}

extension [DeviceRecord] {
  /// The records without the events that their snapshot covers.
  public var withoutCovered: [DeviceRecord] {
    var coverage: SnapshotCoverage?
    for case .snapshot(let bytes) in self { coverage = SnapshotCoverage(of: bytes) }
    guard let coverage else { return self }
    return filter { record in
      if case .event(let event) = record {
        !coverage.covers(event.audience, event.seq)
      } else {
        true
      }
    }
  }
}
