public import FamilyModel

/// The events that a snapshot replaces at a start: all of the family's log up to a position.
///
/// The device's store keeps the events. A device that ignores its snapshot needs them again.
public struct SnapshotCoverage: Hashable, Sendable {
  /// The version of a snapshot's bytes, and of all that a device derives from events. Every change
  /// of either must increment the version; `DeviceSnapshotTests` detect a forgotten increment. The
  /// seal around the bytes has a version of its own.
  static let formatVersion: UInt8 = 7

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
