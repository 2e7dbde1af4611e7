import FamilyModel

/// A device and an audience that the device wrote to.
struct Authorship: Hashable, Comparable, Sendable {
  var device: DeviceID
  var audience: Audience

  static func < (a: Authorship, b: Authorship) -> Bool {
    (a.device, a.audience) < (b.device, b.audience)
  }
}

extension Authorship: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(device)
    packer.add(audience)
  }

  init(_ packed: inout Unpacker) {
    let device = packed.value() as DeviceID
    self.init(device: device, audience: packed.value())
  }
}

extension FamilyState {
  /// Records the newest event that the device wrote to the audience.
  mutating func recordAuthor(of event: Event) {
    guard event.device.rawValue != 0 else { return }
    lastWritten.set(Authorship(device: event.device, audience: event.audience), event.seq)
  }

  /// Forgets what removed devices wrote.
  mutating func forgetAuthors(notIn roster: Roster) {
    let kept = lastWritten.entries.filter { roster.device($0.key.device) != nil }
    lastWritten = SmallMap(sorted: kept)
  }

  /// Refuses a removal whose signer has not read all events of a removed device. Readers that know
  /// the removal first would reject these events, and the others would not.
  ///
  /// - Throws: `stale`. The signer reads, and signs again.
  func checkRemovals(in next: Roster, _ signature: Signature?) throws(Problem) {
    guard let known = signature?.known, !known.heads.isEmpty else { return }
    let heads = known.heads + [AudienceHead(.family, known.family)]
    for device in roster.removedDevices(in: next) {
      for head in heads {
        let last = lastWritten[Authorship(device: device.id, audience: head.audience)] ?? 0
        guard last <= head.position.seq else { throw .stale }
      }
    }
  }
}
