import FamilyModel

extension RelayMachine.Family {
  /// Identifies the sender, charges the request to its rate limit, and serves it.
  ///
  /// An unknown family, an unknown device and a wrong key get the same reply.
  mutating func serve(
    _ request: Request, from sender: RelayMachine.Sender, now: Instant,
    verify: FamilyState.Verifier, into effects: inout [RelayMachine.Effect]
  ) -> (RelayMachine.Disposition, nextCheck: Instant?) {
    if case .join(let join) = request {
      return serve(join, from: sender, now: now, verify: verify, into: &effects)
    }
    let owner: Member?
    do throws(Problem) {
      owner = try identify(sender)
    } catch {
      effects.append(sender.refusal(of: request, error))
      return (.notEnrolled, nil)
    }
    lastUsed = now
    // The administrator has no rate limit: it sets up many families in a row.
    if owner != nil,
      let wait = rateLimits.spend(
        cost(of: request, from: sender), of: sender.address.device, now: now)
    {
      effects.append(sender.refusal(of: request, .tooFast(retryAfter: wait)))
      return (.rateLimited, nil)
    }
    var nextCheck: Instant?
    if let owner {
      nextCheck = recordActivity(of: sender.address.device, owner, request, now: now)
    }
    switch request {
    case .ping: effects.append(sender.reply(pingReply(to: sender.address, owner, now: now)))
    case .present:
      sendChannelsIfLate(sender.address, owner, now: now, into: &effects)
      effects.append(sender.reply(.pong))
    case .command(let id, let command, let signature):
      let check = execute(
        command, id, signature, from: sender, now: now, verify: verify, into: &effects)
      nextCheck = check ?? nextCheck
    case .attach(let cursors):
      guard let owner else {
        effects.append(sender.reply(.failed(.notEnrolled)))
        return (.notEnrolled, nil)
      }
      let check = attach(cursors, owner, from: sender, now: now, into: &effects)
      nextCheck = check ?? nextCheck
    case .acknowledge(let cursors):
      if let owner { moveCursors(cursors, sender.address, owner, into: &effects) }
    case .fetch(let audience, let after):
      effects.append(fetch(audience, after: after, owner, from: sender))
    case .evaluate(let element, let isNew):
      evaluate(
        element, isNew: isNew, of: owner, from: sender, now: now, verify: verify, into: &effects)
    // Served above, without an identified sender.
    case .join: break
    }
    return (.served, nextCheck)
  }

  /// The owner of the sending device; `nil`: the administrator.
  private func identify(_ sender: RelayMachine.Sender) throws(Problem) -> Member? {
    let address = sender.address
    if address.device.rawValue == 0, sender.isAdministrator, address.family.rawValue != 0 {
      return nil
    }
    guard let owner = state.roster.member(of: address.device, key: sender.key) else {
      throw .notEnrolled
    }
    return owner
  }

  private func cost(of request: Request, from sender: RelayMachine.Sender) -> Int64 {
    let cost = RateLimits.cost(of: request)
    switch request {
    case .fetch(_, let after) where after < state.seq:
      return cost + RateLimits.cost(ofPageIn: state.seq - after)
    case .attach: return cost + RateLimits.cost(ofChannelsAmong: state.roster.persons.count)
    case .command(let id, _, _)
    where state.results.isEvicted(id, by: sender.address.device):
      return cost + RateLimits.costOfStoredResult
    default: return cost
    }
  }

  /// Whether the shell may read a stored result for this request: the sender is identified and its
  /// rate limit covers the cost.
  func mayReadStoredResult(
    for request: Request, from sender: RelayMachine.Sender, now: Instant
  ) -> Bool {
    do throws(Problem) {
      // The administrator has no rate limit.
      guard try identify(sender) != nil else { return true }
    } catch { return false }
    var copy = rateLimits
    return copy.spend(cost(of: request, from: sender), of: sender.address.device, now: now) == nil
  }

  /// Charges the bytes of a page that the device received.
  mutating func charge(pageBytes: Int, to device: DeviceID, now: Instant) {
    let cost = RateLimits.cost(ofPageBytes: pageBytes)
    // The administrator has no rate limit.
    guard cost > 0, device.rawValue != 0 else { return }
    rateLimits.charge(cost, of: device, now: now)
  }

  private func fetch(
    _ audience: Audience, after: UInt64, _ owner: Member?, from sender: RelayMachine.Sender
  ) -> RelayMachine.Effect {
    guard mayRead(audience, owner) else { return sender.reply(.failed(.notPermitted)) }
    return .page(
      sender.address, id: sender.id, audience, after: after, upTo: state.head(audience))
  }

  /// The administrator may read the audiences that it writes to, and no conversation.
  private func mayRead(_ audience: Audience, _ owner: Member?) -> Bool {
    guard let owner else { return audience == .family || audience.accountPerson != nil }
    return state.roster.isMember(owner, of: audience)
  }
}
