import FamilyModel

/// A content key that a device should have and cannot open.
struct MissingKey: Hashable, Sendable {
  var audience: Audience
  var name: ContentKeyID
}

/// Complaints about content keys.
extension CommandSender {
  /// Complains about the keys that this device has lacked for some time, and schedules the next
  /// check.
  ///
  /// A complaint about a key is repeated only after an answer that this device cannot open.
  ///
  /// Precondition: the device is attached and not behind.
  mutating func complain(
    now: Instant, verifier: EventVerifier?, into out: inout DeviceLink.Output
  ) {
    guard let verifier else { return }
    var known: [MissingKey: (complaints: Int, due: Instant)] = [:]
    var names: [Audience: [ContentKeyID]] = [:]
    for (audience, name, isNamed) in verifier.missingKeys {
      let key = MissingKey(audience: audience, name: name)
      // An honest holder may be about to share a key that nobody has shared with this device.
      let delay = isNamed ? Timing.complaintDelay : Timing.missingKeyDelay
      var state = missingKeys[key] ?? (0, now + delay)
      state.due = min(state.due, now + Timing.longestComplaintDelay)
      if state.due <= now, names[audience, default: []].count < Limits.complaintKeys,
        outbox.hasRoomForKeys
      {
        names[audience, default: []].append(name)
        state.complaints += 1
        state.due =
          now + Timing.backoff(state.complaints, delay, Timing.longestComplaintDelay)
      }
      known[key] = state
    }
    missingKeys = known
    for audience in names.keys.sorted() {
      guard let names = names[audience], !names.isEmpty else { continue }
      store(
        .complain(audience, names.sorted()), id: nextID(now: now), due: now,
        basedOnSeq: verifier.familySeq, into: &out)
      out.unopened = verifier.deferred.keyless
    }
    // A key above the limit of one complaint is due already, and waits for the next check.
    complaintsDue = known.values.map(\.due).min().map { max($0, now + Timing.keyShareTurn) }
  }
}
