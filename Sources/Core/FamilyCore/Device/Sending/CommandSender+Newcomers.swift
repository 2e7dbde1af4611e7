import FamilyModel

/// Sharing keys with newcomers: devices that joined an audience after its keys were made.
extension CommandSender {
  /// Shares the keys that newcomers lack when it is this device's turn, and schedules the next
  /// check.
  ///
  /// The holders of the keys take turns in the order of the roster, so that one of them shares at
  /// once and the others only if it is absent.
  ///
  /// Precondition: the device is attached and not behind.
  mutating func shareWithNewcomers(
    now: Instant, family: FamilyProjection, verifier: inout EventVerifier?,
    into out: inout DeviceLink.Output
  ) {
    // Without a roster, the next roster schedules the check.
    newcomersDue = nil
    guard verifier != nil, let person = family.roster.person(person) else { return }
    var next: Instant?
    for audience in family.roster.audiences(of: person) {
      let readers = family.roster.readers(of: audience)
      let lacking = verifier!.keysLacking(audience, readers)
      guard !lacking.isEmpty else { continue }
      let holders = readers.filter { reader in
        lacking.contains { $0.entry.readers.contains(reader.agreementKey) }
      }
      let own = verifier!.vault.agreementKey
      let rank = holders.firstIndex { $0.agreementKey == own } ?? holders.count
      let since = newcomersSince ?? now
      newcomersSince = since
      let due = since + Timing.keyShareTurn * rank
      guard due <= now, outbox.hasRoomForKeys else {
        let later = due > now ? due : now + Timing.keyShareTurn
        next = min(next ?? later, later)
        continue
      }
      let wraps = lacking.compactMap { entry, reader in
        verifier!.wrap(entry, audience, for: reader)
      }
      share(wraps, audience, now: now, verifier: verifier, into: &out)
      verifier!.keep(wraps, audience, isShared: false)
    }
    if next == nil { newcomersSince = nil }
    newcomersDue = next
  }
}

extension FamilyProjection {
  /// Whether the device may read what the audience receives. A device in no roster counts as a
  /// reader, because a later roster may contain it again.
  func mayRead(_ audience: Audience, _ device: DeviceID) -> Bool {
    roster.owner(of: device).map { roster.isMember($0, of: audience) } ?? true
  }
}
