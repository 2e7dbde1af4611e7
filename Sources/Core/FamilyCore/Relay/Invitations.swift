import FamilyModel

/// The invitations of a family that have not expired, and who joined with them.
///
/// `open` → (join) `used` → (a roster with the device) gone; each → (expiry) gone. What the clock says is looked at when somebody joins or
/// invites; what is gone leaves with the next invitation.
struct Invitations: Hashable, Sendable {
  fileprivate struct Standing: Hashable {
    var invitation: Invitation
    var join: JoinRequest?
  }

  private var standings: [Standing] = []

  func holds(_ key: [UInt8]) -> Bool { standings.contains { $0.invitation.key == key } }

  /// How many have not expired.
  func count(_ now: Instant) -> Int { standings.count { now <= $0.invitation.expires } }

  mutating func add(_ invitation: Invitation, now: Instant) {
    standings.removeAll { $0.invitation.expires < now }
    standings.append(Standing(invitation: invitation))
  }

  mutating func use(_ join: JoinRequest) {
    guard let index = standings.firstIndex(where: { $0.invitation.key == join.invitation }) else {
      return
    }
    standings[index].join = join
  }

  /// Those who are in the family now need their invitations no more; who is taken out later is a stranger.
  mutating func forget(in roster: Roster) {
    standings.removeAll { standing in
      roster.devices.contains { $0.publicKey == standing.join?.publicKey }
    }
  }

  enum Finding { case new, known, refused }

  /// Whether the request may be kept; without a look at its proof.
  func find(_ join: JoinRequest, now: Instant) -> Finding {
    guard let standing = standings.first(where: { $0.invitation.key == join.invitation }),
      now <= standing.invitation.expires
    else { return .refused }
    guard let used = standing.join else { return .new }
    return used == join ? .known : .refused
  }
}

extension RelayMachine.Family {
  /// The one thing that an unknown key can do. Whatever is wrong, the answer is that of any stranger.
  mutating func join(
    _ join: JoinRequest, _ sender: RelayMachine.Sender, now: Instant,
    _ verify: FamilyState.Verifier, into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    func reply(_ reply: Reply) -> RelayMachine.Effect {
      .reply(sender.address, id: sender.id, reply)
    }
    let family = sender.address.family
    let enrolled = state.roster.devices.first {
      $0.publicKey == join.publicKey && $0.signingKey == join.signingKey
        && $0.agreementKey == join.agreementKey
    }
    guard join.publicKey == sender.key else {
      effects.append(reply(.failed(.notEnrolled)))
      return nil
    }
    if let enrolled {
      effects.append(reply(.joined(enrolled.id)))
      return nil
    }
    switch state.invitations.find(join, now: now) {
    case .known: effects.append(reply(.joined(DeviceID(0))))
    case .new where verify(join.invitation, join.proof, join.signedBytes(family: family)):
      let event = Event(
        seq: state.seq + 1, previous: state.head(.family), audience: .family,
        command: join.command(at: now), device: DeviceID(0), at: now, body: .joinRequested(join))
      return publish(event, in: family, reply(.joined(DeviceID(0))), now: now, into: &effects)
    case .new, .refused: effects.append(reply(.failed(.notEnrolled)))
    }
    return nil
  }
}

extension Invitations: Packable {
  func pack(_ packer: inout Packer) { packer.add(standings) }
  init(_ packed: inout Unpacker) { standings = packed.value() }
}

extension Invitations.Standing: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(invitation)
    packer.add(join)
  }

  init(_ packed: inout Unpacker) {
    invitation = packed.value()
    join = packed.value()
  }
}
