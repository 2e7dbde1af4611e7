import FamilyModel

/// The rosters and passcodes of a history that the relay does not show any more.
///
/// They stay in force. Their positions move to the last one that both histories have, so that they
/// also judge the events of the new history. A removed device could otherwise use a restored copy of
/// the relay's store, which still has its removal before it.
extension EventVerifier {
  /// The family's cursor has moved back to this position.
  mutating func rewind(to seq: UInt64) {
    for index in rosters.indices where rosters[index].position.seq > seq {
      rosters[index].position = ChainPosition(seq: seq)
      lostRosters.insert(rosters[index].name)
    }
    for index in passcodes.indices where passcodes[index].order.seq > seq {
      let order = passcodes[index].order
      passcodes[index].order = StatementOrder(seq: seq, known: order.known, command: order.command)
    }
    ring.rewind(to: seq)
    shownRosters.removeAll { $0.seq > seq }
  }

  /// The next roster on the way from the relay's to this one. A removal changes nothing else, so the
  /// additions that the relay has lost, too, come first.
  ///
  /// No step keeps members of a roster that this device does not verify, because they may be strangers.
  /// The lost additions then need a new invitation.
  func step(to roster: Roster) -> Roster {
    guard isRosterLost, let shown = shownRosters.last else { return roster }
    let steps = shown.roster.steps(to: roster)
    if steps.count == 1 { return roster }
    return isKnown(shown.digest) ? roster.keeping(shown.roster) : steps[0]
  }

  /// Whether the event repeats a verified command: its signer signed these very bytes. Only such an
  /// event may take the place of the verified one.
  ///
  /// The signer may have lost its rights since.
  func repeats(_ event: Event, _ question: (QuestionID) -> QuestionState?) -> Bool {
    guard holds(event), let signature = event.signature, event.hasTimelyID,
      signature.basedOnSeq < event.seq
    else { return false }
    if case .rosterChanged(let next) = event.body {
      let known = rosters.first { $0.name == event.commandName }?.roster
      guard next == known || withoutRemoved(next) == known,
        isShown(signature.known.roster, before: event.seq)
      else { return false }
    }
    return isSigned(event, question)
  }

  /// Whether the event's signer signed these very bytes, with or without the right to them.
  func isSigned(_ event: Event, _ question: (QuestionID) -> QuestionState?) -> Bool {
    guard let signature = event.signature else { return false }
    let keys = Set(rosters.compactMap { $0.roster.device(signature.signer)?.signingKey })
    let bytes = signedBytes(event, signature, event.body.laterQuestion.flatMap(question)?.header)
    return keys.contains { !$0.isEmpty && vault.verify($0, signature.bytes, bytes) }
  }

  /// A known roster is in the present history.
  mutating func foundRoster(_ event: Event) {
    guard let name = event.commandName, let index = rosters.firstIndex(where: { $0.name == name }),
      lostRosters.remove(name) != nil
    else { return }
    let before = rosters[..<index].last?.position.seq ?? 0
    rosters[index].position = event.seq > before ? event.position : ChainPosition(seq: before)
    // The roster is before the lost ones in both histories.
    for later in rosters.indices[(index + 1)...] where lostRosters.contains(rosters[later].name) {
      let seq = max(rosters[later].position.seq, rosters[index].position.seq)
      rosters[later].position = ChainPosition(seq: seq)
    }
    deferred.release(.history)
  }

  /// Whether the relay's roster differs from the present one, because the relay has lost it.
  var isRosterLost: Bool { rosters.last.map { lostRosters.contains($0.name) } ?? false }

  /// Applies a copy that this device has kept of a lost event, with its content open. The device has
  /// verified the event before.
  ///
  /// - Parameter seq: The last position that the present history shares with that of the event.
  /// - Returns: The event as it counts.
  mutating func restore(_ event: Event, after seq: UInt64) -> Event {
    let (digest, vault) = (rosterDigest(of: event), vault)
    evidence?.add(event, digest: digest, vault)
    var counted = event
    if case .rosterChanged(let roster) = event.body {
      counted.body = .rosterChanged(withoutRemoved(roster))
    }
    var placed = counted
    placed.seq = seq
    record(placed, digest: digest)
    if event.isRoster, let name = event.commandName { lostRosters.insert(name) }
    return counted
  }

  /// The roster without the persons and devices that were removed by a roster that its signer may not
  /// have known, because the relay had lost it.
  func withoutRemoved(_ next: Roster) -> Roster {
    guard let roster, !lostRosters.isEmpty else { return next }
    return next.withoutRemoved(since: rosters.map(\.roster), now: roster, removedKeys)
  }
}
