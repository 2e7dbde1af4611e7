import FamilyModel

/// A family's invitations and the join requests that used them.
///
/// `open` → (join) `used` → (roster with the device) removed; `open`, `used` → (expiry) removed.
/// Expiry is checked at each join and invitation; the next invitation removes expired entries.
struct Invitations: Hashable, Sendable {
  fileprivate struct Entry: Hashable {
    var invitation: Invitation
    var join: JoinRequest?
  }

  private var entries: [Entry] = []

  func holds(_ key: [UInt8]) -> Bool { entries.contains { $0.invitation.key == key } }

  /// The number of invitations that have not expired.
  func count(_ now: Instant) -> Int { entries.count { now <= $0.invitation.expires } }

  mutating func add(_ invitation: Invitation, now: Instant) {
    entries.removeAll { $0.invitation.expires < now }
    entries.append(Entry(invitation: invitation))
  }

  mutating func markUsed(by join: JoinRequest) {
    guard let index = entries.firstIndex(where: { $0.invitation.key == join.invitation }) else {
      return
    }
    entries[index].join = join
  }

  /// Removes the invitations of devices in the roster. A device that leaves the family later cannot
  /// use its invitation again.
  mutating func removeEnrolled(in roster: Roster) {
    entries.removeAll { entry in
      roster.devices.contains { $0.publicKey == entry.join?.publicKey }
    }
  }

  enum JoinStatus { case new, repeated, rejected }

  /// The status of a join request. The caller verifies the proof of a new one.
  func status(of join: JoinRequest, now: Instant) -> JoinStatus {
    guard let entry = entries.first(where: { $0.invitation.key == join.invitation }),
      now <= entry.invitation.expires
    else { return .rejected }
    guard let used = entry.join else { return .new }
    return used == join ? .repeated : .rejected
  }
}

extension Invitations: Packable {
  func pack(_ packer: inout Packer) { packer.add(entries) }
  init(_ packed: inout Unpacker) { entries = packed.value() }
}

extension Invitations.Entry: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(invitation)
    packer.add(join)
  }

  init(_ packed: inout Unpacker) {
    invitation = packed.value()
    join = packed.value()
  }
}
