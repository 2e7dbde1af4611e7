import FamilyModel

/// The invitations of a family that have not expired, and who joined with them.
///
/// `open` → (join) `used`, both → (expiry) gone. What the clock says is looked at when somebody joins or
/// invites; what is gone leaves with the next invitation.
struct Invitations: Hashable, Sendable {
  private struct Standing: Hashable {
    var invitation: Invitation
    var join: JoinRequest?
  }

  private var standings: [Standing] = []

  func holds(_ key: [UInt8]) -> Bool { standings.contains { $0.invitation.key == key } }

  /// How many have not expired.
  func count(_ now: Instant) -> Int { standings.count { now <= $0.invitation.expires } }

  mutating func add(_ invitation: Invitation, _ now: Instant) {
    standings.removeAll { $0.invitation.expires < now }
    standings.append(Standing(invitation: invitation))
  }

  mutating func use(_ join: JoinRequest) {
    guard let index = standings.firstIndex(where: { $0.invitation.key == join.invitation }) else {
      return
    }
    standings[index].join = join
  }

  enum Finding { case new, known, refused }

  /// Whether the request may be kept; without a look at its proof.
  func find(_ join: JoinRequest, _ now: Instant) -> Finding {
    guard let standing = standings.first(where: { $0.invitation.key == join.invitation }),
      now <= standing.invitation.expires
    else { return .refused }
    guard let used = standing.join else { return .new }
    return used == join ? .known : .refused
  }
}

extension RelayMachine {
  /// The one thing that an unknown key can do. Whatever is wrong, the answer is that of any stranger.
  mutating func join(
    _ join: JoinRequest, _ id: UInt64, _ address: DeviceAddress, key: [UInt8], _ now: Instant
  ) -> [Effect] {
    func reply(_ reply: Reply) -> Effect { .reply(address, id: id, reply) }
    guard let state = families[address.family]?.state else { return [reply(.failed(.overloaded))] }
    guard join.publicKey == key else { return [reply(.failed(.notEnrolled))] }
    let enrolled = state.roster.devices.first {
      $0.publicKey == key && $0.signingKey == join.signingKey
        && $0.agreementKey == join.agreementKey
    }
    if let enrolled { return [reply(.joined(enrolled.id))] }
    switch state.invitations.find(join, now) {
    case .known: return [reply(.joined(DeviceID(0)))]
    case .refused: return [reply(.failed(.notEnrolled))]
    case .new:
      guard verify(join.invitation, join.proof, join.signedBytes(family: address.family)) else {
        return [reply(.failed(.notEnrolled))]
      }
      let event = Event(
        seq: state.seq + 1, previous: state.head(.family), audience: .family,
        command: join.command, device: DeviceID(0), at: now, body: .joinRequested(join))
      let generation = state.generation(.family)
      publish(event, address.family, now)
      return [
        .append(address.family, event), reply(.joined(DeviceID(0))),
        .broadcast(address.family, generation: generation, .family, .event(event)),
      ]
    }
  }
}
