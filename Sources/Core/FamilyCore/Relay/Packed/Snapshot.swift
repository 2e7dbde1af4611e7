import FamilyModel

/// A family's state as the store keeps it, so that the relay need not read the family's whole history.
///
/// It is a cache. What is of another form, or of no form, is passed over, and the history is read.
private struct Snapshot: Packable {
  /// What the bytes mean, and what ``FamilyState/apply(_:)`` makes of events: whoever changes either of them
  /// counts up. `SnapshotTests` notice.
  static let form: UInt64 = 1

  var state: FamilyState

  init(_ state: FamilyState) { self.state = state }

  func pack(_ packer: inout Packer) {
    packer.add(Self.form)
    packer.add(state)
  }

  init(_ packed: inout Unpacker) {
    guard packed.number() == Self.form else {
      packed.fail()
      self.init(FamilyState())
      return
    }
    self.init(packed.value())
  }
}

extension FamilyState {
  /// Bytes of the largest snapshot that is kept: that of a family with two million questions.
  static let mostSnapshotBytes = 64 << 20

  /// The state as bytes; `nil` where they are too many.
  var snapshot: [UInt8]? {
    let bytes = Packer.pack(Snapshot(self))
    return bytes.count <= Self.mostSnapshotBytes ? bytes : nil
  }

  /// The state that an ``RelayMachine/Effect/snapshot(_:seq:_:)`` held; `nil` where the bytes are not of this
  /// form.
  ///
  /// - Parameter resultsKept: As that of the machine.
  public init?(snapshot bytes: [UInt8], resultsKept: Int = .max) {
    guard let state = Unpacker.unpack(bytes, as: Snapshot.self)?.state,
      state.resultsKept == resultsKept
    else { return nil }
    self = state
  }
}

extension RelayMachine.Family {
  /// Of a long history the snapshot may lack one part of so many: it grows with each question, and all of it is
  /// written each time.
  private static let mostLacking: UInt64 = 4

  /// Takes the request; tells when to look whether everybody has what they should, and whether so much has
  /// happened since the last snapshot that the next one is due.
  mutating func take(
    _ request: Request, of sender: RelayMachine.Sender, now: Instant,
    _ verify: FamilyState.Verifier, snapshotEvery events: UInt64,
    into effects: inout [RelayMachine.Effect]
  ) -> (look: Instant?, isSnapshotDue: Bool) {
    let look = take(request, of: sender, now: now, verify, into: &effects)
    return (look, state.seq - snapshotSeq >= max(events, state.seq / Self.mostLacking))
  }

  /// A new snapshot; `nil` where it would be too large.
  mutating func takeSnapshot(of id: FamilyID) -> RelayMachine.Effect? {
    snapshotSeq = state.seq
    return state.snapshot.map { .snapshot(id, seq: state.seq, $0) }
  }
}
