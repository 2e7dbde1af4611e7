import FamilyModel

/// A stored family state, so that the relay need not read the family's whole log.
///
/// A snapshot is a cache. The relay ignores bytes of another format version, or invalid bytes, and
/// reads the log.
private struct Snapshot: Packable {
  /// The version of the bytes and of ``FamilyState/apply(_:)``. Every change of either must
  /// increment the version; `SnapshotTests` detect a forgotten increment.
  static let formatVersion: UInt64 = 12

  var state: FamilyState

  init(_ state: FamilyState) { self.state = state }

  func pack(_ packer: inout Packer) {
    packer.add(Self.formatVersion)
    packer.add(state)
  }

  init(_ packed: inout Unpacker) {
    guard packed.number() == Self.formatVersion else {
      packed.fail()
      self.init(FamilyState())
      return
    }
    self.init(packed.value())
  }
}

extension FamilyState {
  /// Bytes of the largest snapshot that is stored: that of a family with two million questions.
  static let snapshotByteLimit = 64 << 20

  /// The state as bytes; `nil` above ``snapshotByteLimit``.
  var snapshot: [UInt8]? {
    let bytes = Packer.pack(Snapshot(self))
    return bytes.count <= Self.snapshotByteLimit ? bytes : nil
  }

  /// Reads the bytes of an ``RelayMachine/Effect/snapshot(_:seq:_:)``.
  ///
  /// - Parameter resultsKept: The machine's value.
  /// - Returns: `nil` for other bytes, another format version, or another `resultsKept`.
  public init?(snapshot bytes: [UInt8], resultsKept: Int = .max) {
    guard let state = Unpacker.unpack(bytes, as: Snapshot.self)?.state,
      state.resultsKept == resultsKept
    else { return nil }
    self = state
  }
}

extension RelayMachine.Family {
  /// A snapshot may lack at most one part in this many of the log: it grows with the log, and each
  /// one is written completely.
  private static let maximumLagDivisor: UInt64 = 4

  /// Whether the log has grown enough since the last snapshot: by `events`, and by a quarter of its
  /// length.
  func isSnapshotDue(every events: UInt64) -> Bool {
    state.seq - snapshotSeq >= max(events, state.seq / Self.maximumLagDivisor)
  }

  /// Creates a snapshot; `nil` if it would be too large.
  mutating func makeSnapshot(of id: FamilyID) -> RelayMachine.Effect? {
    snapshotSeq = state.seq
    return state.snapshot.map { .snapshot(id, seq: state.seq, $0) }
  }
}
