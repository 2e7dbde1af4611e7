import FamilyModel

/// The open invitations that a device has verified, each with the request that used it.
///
/// `open` → (request to join) `used` → (roster with the device) removed; `open`, `used` → (end)
/// removed. The relay states the time of a request, so its word alone does not end an invitation:
/// the times of the family's signed events count too. An invitation that one of them has passed
/// admits no later request.
struct KnownInvitations: Sendable {
  struct Entry: Sendable {
    var invitation: Invitation
    var join: JoinRequest?
  }

  var entries: [Entry] = []
  /// The latest time of a verified event of the family, by its signer.
  var latest = Instant(milliseconds: .min)

  var count: Int { entries.count }

  func holds(_ key: [UInt8]) -> Bool { entries.contains { $0.invitation.key == key } }

  /// Adds an invitation. Above ``Limits/invitations`` the oldest is dropped.
  mutating func add(_ invitation: Invitation) {
    entries.removeAll { $0.invitation.key == invitation.key }
    entries.append(Entry(invitation: invitation))
    if entries.count > Limits.invitations { entries.removeFirst() }
  }

  /// Removes the invitations that ended before the time of a signed event.
  mutating func advance(to time: Instant) {
    latest = max(latest, time)
    entries.removeAll { $0.invitation.expires < latest }
  }

  /// Checks a request that the relay accepted at this moment. The caller verifies its proof.
  ///
  /// - Returns: `notSigned` without an open invitation; `replayed` if a request has used it; `nil`
  ///   for a new request.
  func check(_ join: JoinRequest, at moment: Instant) -> Problem? {
    guard let entry = entries.first(where: { $0.invitation.key == join.invitation }),
      max(moment, latest) <= entry.invitation.expires
    else { return .notSigned }
    return entry.join == nil ? nil : .replayed
  }

  /// Records a verified request.
  mutating func markUsed(by join: JoinRequest) {
    guard let index = entries.firstIndex(where: { $0.invitation.key == join.invitation }) else {
      return
    }
    entries[index].join = join
  }

  /// Removes the invitations whose devices are in the roster.
  mutating func removeEnrolled(in roster: Roster) {
    let enrolled = Set(roster.devices.map(\.publicKey))
    entries.removeAll { $0.join.map { enrolled.contains($0.publicKey) } ?? false }
  }
}
