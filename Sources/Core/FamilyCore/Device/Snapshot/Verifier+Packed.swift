import FamilyModel

/// The state of a verifier that has verified all events up to a position.
///
/// Deferred events are no part of it: a device with one makes no snapshot.
extension EventVerifier {
  func pack(_ packer: inout Packer) {
    packer.add(ring)
    packer.add(hasFork)
    packer.add(hasSeenFork)
    packer.add(rosters.map(PackedRoster.init))
    packer.add(lostRosters)
    packer.add(shownRosters.map { PackedRoster(shown: $0) })
    packer.add(removedKeys)
    packer.add(passcodes.map { PackedPasscode(order: $0.order, passcode: $0.passcode) })
    packer.add(invitations)
    packer.add(commands)
    packer.add(evidence)
    packer.add(removals)
    packer.add(deferred.next)
  }

  /// Restores the state.
  mutating func restore(_ packed: inout Unpacker) {
    ring = packed.value()
    hasFork = packed.bool()
    hasSeenFork = packed.bool()
    rosters = (packed.value() as [PackedRoster]).map(\.counted)
    lostRosters = packed.value()
    shownRosters = (packed.value() as [PackedRoster]).map(\.shown)
    removedKeys = packed.value()
    passcodes = (packed.value() as [PackedPasscode]).map { ($0.order, $0.passcode) }
    invitations = packed.value()
    commands = packed.value()
    evidence = packed.value()
    removals = packed.value()
    deferred.next = packed.number()
  }
}

private struct PackedRoster: Packable {
  var position: ChainPosition
  var roster: Roster
  var name: CommandName
  var digest: ChainHash

  init(_ roster: EventVerifier.CountedRoster) {
    (position, self.roster, name, digest) = roster
  }
  init(shown: (seq: UInt64, roster: Roster, digest: ChainHash)) {
    self.init(
      (
        ChainPosition(seq: shown.seq), shown.roster,
        CommandName(DeviceID(0), ID128(high: 0, low: 0)), shown.digest
      ))
  }
  var counted: EventVerifier.CountedRoster { (position, roster, name, digest) }
  var shown: (seq: UInt64, roster: Roster, digest: ChainHash) { (position.seq, roster, digest) }

  func pack(_ packer: inout Packer) {
    packer.add(position)
    packer.add(roster)
    packer.add(name)
    packer.add(digest)
  }
  init(_ packed: inout Unpacker) {
    position = packed.value()
    roster = packed.value()
    name = packed.value()
    digest = packed.value()
  }
}

private struct PackedPasscode: Packable {
  var order: StatementOrder
  var passcode: Passcode

  init(order: StatementOrder, passcode: Passcode) {
    (self.order, self.passcode) = (order, passcode)
  }
  func pack(_ packer: inout Packer) {
    packer.add(order)
    packer.add(passcode)
  }
  init(_ packed: inout Unpacker) {
    order = packed.value()
    passcode = packed.value()
  }
}

extension AudienceChain: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(isShortened)
    packer.add(positions)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    isShortened = packed.bool()
    positions = packed.value()
  }
}

extension Removals: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(lastEvents.count))
    for (key, heads) in lastEvents {
      packer.add(key)
      packer.add(heads)
    }
  }
  init(_ packed: inout Unpacker) {
    self.init()
    for _ in 0..<packed.count() {
      let key = packed.array()
      lastEvents[key] = packed.value()
    }
  }
}

extension KnownInvitations: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(entries)
    packer.add(latest)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    entries = packed.value()
    latest = packed.value()
  }
}

extension KnownInvitations.Entry: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(invitation)
    packer.add(join)
  }
  init(_ packed: inout Unpacker) {
    let invitation = packed.value() as Invitation
    self.init(invitation: invitation, join: packed.value())
  }
}
