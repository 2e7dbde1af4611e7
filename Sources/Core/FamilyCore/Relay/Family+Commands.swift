import FamilyModel

extension RelayMachine.Family {
  /// Executes a command: repeats an earlier result, refuses the command, or appends its event.
  ///
  /// - Returns: The time of the next delivery check; `nil` if a check is already scheduled or no
  ///   event was appended.
  mutating func execute(
    _ command: Command, _ commandID: CommandID, _ signature: Signature?,
    from sender: RelayMachine.Sender, now: Instant, verify: FamilyState.Verifier,
    into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    let address = sender.address
    do throws(Problem) {
      if let seq = try earlierResult(command, commandID, address.device) {
        effects.append(sender.reply(.accepted(commandID, seq: seq)))
        return nil
      }
      guard commandID.time <= now + Limits.idLead else { throw .earlyID(relayTime: now) }
      try requireSignature(signature, of: address.device)
      let person = state.roster.member(of: address.device)
      let (body, audience) = try state.decide(
        command,
        FamilyState.Proposal(
          id: commandID, device: address.device, person: person,
          family: address.family, signature: signature, now: now),
        verify: verify)
      try state.checkKnowledge(signature, audience)
      try state.checkNewest(command, signature)
      try check(command)
      let event = Event(
        seq: state.seq + 1, previous: state.head(audience), audience: audience,
        command: commandID, device: address.device, at: now, body: body,
        signature: signature)
      try state.checkStorage(for: event, verify.quota)
      updateLock(after: event, by: person?.role, in: address.family, into: &effects)
      let reply: RelayMachine.Effect? =
        sender.id == .unnumbered ? nil : sender.reply(.accepted(commandID, seq: event.seq))
      return append(event, in: address.family, reply, now: now, verify: verify, into: &effects)
    } catch {
      if error == .stale { suspendRemovedDevices(command, now: now) }
      refusals.add(commandID, by: address.device, error)
      effects.append(sender.reply(.refused(commandID, error)))
      return nil
    }
  }

  /// Suspends the devices that a refused roster removes, so that they cannot keep the guardian from
  /// reading all that they wrote. Precondition: the roster's signature is valid.
  private mutating func suspendRemovedDevices(_ command: Command, now: Instant) {
    guard case .setRoster(let next) = command else { return }
    for device in state.roster.removedDevices(in: next) {
      rateLimits.suspend(device.id, now: now)
    }
  }

  /// Requires a signature by the device itself if the device has a signing key.
  ///
  /// The relay does not verify the signature. Every reader must verify it anyway, and a
  /// verification costs more than all other work for a command.
  private func requireSignature(_ signature: Signature?, of device: DeviceID) throws(Problem) {
    guard state.roster.signs(device) else { return }
    guard let signature, signature.signer == device else { throw .notSigned }
  }

  /// The event that the command produced earlier; `nil` for a new command.
  ///
  /// - Throws: the problem of an earlier refusal; `idTaken` if the device sent another command under
  ///   this id; `overloaded` if the result must first be read from the store.
  private func earlierResult(_ command: Command, _ id: CommandID, _ device: DeviceID)
    throws(Problem) -> UInt64?
  {
    let found: CommandResults.Finding
    switch state.results.find(id, by: device) {
    case .evicted:
      guard let storedResult, storedResult.id == id, storedResult.device == device else {
        throw .overloaded
      }
      found = storedResult.finding
    case let inMemory: found = inMemory
    }
    if case .event(let seq, let outline) = found {
      guard outline == CommandOutline(command) else { throw .idTaken }
      return seq
    }
    if let problem = refusals.find(id, by: device) { throw problem }
    return state.seqOfSameQuestion(command, by: device)
  }

  /// Applies an event and adds its effects: append, reply, broadcast.
  ///
  /// - Returns: The time of the next delivery check; `nil` if a check is already scheduled.
  private mutating func append(
    _ event: Event, in family: FamilyID, _ reply: RelayMachine.Effect?, now: Instant,
    verify: FamilyState.Verifier, into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    // A new roster is broadcast to the readers of the old one, so the generation is read before it
    // applies.
    let generation = state.generation(event.audience)
    var event = event
    event.hash = event.hash(
      after: state.position(event.audience).hash, in: family, digest: verify.digest)
    state.apply(event)
    effects.append(.append(family, event))
    if let reply { effects.append(reply) }
    effects.append(.broadcast(family, generation: generation, event.audience, .event(event)))
    let nextCheck = deliveries.startChecks(state, isScheduled: isCheckScheduled, now: now)
    defer { isCheckScheduled = true }
    return isCheckScheduled ? nil : nextCheck
  }
}

extension RelayMachine.Family {
  /// Serves a join request, the only request that an unknown key may send. All defects get the same
  /// reply as an unknown device.
  mutating func serve(
    _ join: JoinRequest, from sender: RelayMachine.Sender, now: Instant,
    verify: FamilyState.Verifier, into effects: inout [RelayMachine.Effect]
  ) -> (RelayMachine.Disposition, nextCheck: Instant?) {
    let family = sender.address.family
    let enrolled = state.roster.devices.first {
      $0.publicKey == join.publicKey && $0.signingKey == join.signingKey
        && $0.agreementKey == join.agreementKey
    }
    guard join.publicKey == sender.key else {
      effects.append(sender.reply(.failed(.notEnrolled)))
      return (.notEnrolled, nil)
    }
    if let enrolled {
      effects.append(sender.reply(.joined(enrolled.id)))
      return (.served, nil)
    }
    let pending = sender.reply(.joined(DeviceID(0)))
    switch state.invitations.status(of: join, now: now) {
    case .repeated:
      effects.append(pending)
      return (.served, nil)
    case .new
    where !join.hasWeakKey && verify(join.invitation, join.proof, join.signedBytes(family: family)):
      let event = Event(
        seq: state.seq + 1, previous: state.head(.family), audience: .family,
        command: join.command(at: now), device: DeviceID(0), at: now, body: .joinRequested(join))
      return (
        .served, append(event, in: family, pending, now: now, verify: verify, into: &effects)
      )
    case .new, .rejected:
      effects.append(sender.reply(.failed(.notEnrolled)))
      return (.notEnrolled, nil)
    }
  }
}
