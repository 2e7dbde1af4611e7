import FamilyModel

extension RelayMachine.Family {
  /// Evaluates a blinded passcode: for a guardian under a new secret, for a child as a guess.
  ///
  /// The changed lock is stored in the same commit as the reply, so no reply leaves uncounted.
  mutating func evaluate(
    _ element: [UInt8], isNew: Bool, of owner: Member?, from sender: RelayMachine.Sender,
    now: Instant, verify: FamilyState.Verifier, into effects: inout [RelayMachine.Effect]
  ) {
    do throws(Problem) {
      guard let owner, isNew ? owner.role.isGuardian : owner.role == .child else {
        throw .notPermitted
      }
      var lock = passcodeLock ?? PasscodeLock()
      let secret = isNew ? lock.prepare(verify.passcodes) : try guess(element, in: &lock, now: now)
      guard let evaluation = verify.passcodes.evaluate(secret, element) else { throw .malformed }
      store(lock, of: sender.address.family, into: &effects)
      effects.append(sender.reply(.evaluated(evaluation)))
    } catch {
      effects.append(sender.reply(.failed(error)))
    }
  }

  private func guess(_ element: [UInt8], in lock: inout PasscodeLock, now: Instant)
    throws(Problem) -> [UInt8]
  {
    guard let passcode = state.passcode else { throw .noPasscode }
    return try lock.guess(element, of: passcode, now: now)
  }

  /// Checks that a new passcode was made with the secret that the relay prepared last.
  func check(_ command: Command) throws(Problem) {
    guard case .setPasscode(let passcode) = command else { return }
    try passcode.validate()
    try (passcodeLock ?? PasscodeLock()).check(passcode)
  }

  /// Adopts the secret of a new passcode, or resets the guesses after a proof that was verified.
  mutating func updateLock(
    after event: Event, by role: Role?, in family: FamilyID,
    into effects: inout [RelayMachine.Effect]
  ) {
    guard var lock = passcodeLock else { return }
    switch event.body {
    case .passcodeChanged: lock.adopt()
    case .answeredInPerson: lock.reset()
    case .ageSet where role == .child, .settingsChanged where role == .child: lock.reset()
    default: return
    }
    store(lock, of: family, into: &effects)
  }

  private mutating func store(
    _ lock: PasscodeLock, of family: FamilyID, into effects: inout [RelayMachine.Effect]
  ) {
    guard lock != passcodeLock else { return }
    passcodeLock = lock
    effects.append(.passcodeLock(family, lock.stored))
  }
}
