import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// Requests that wait for a read.
extension Shard {
  /// Executes the request, or lets it wait for the read that it needs.
  mutating func process(_ request: PendingRequest) {
    let isBehind = waiting.holds(request.family)
    if isBehind, !defects.has(.overtaking) { return wait(request) }
    guard let read = neededRead(for: request), !isBehind else { return _ = execute(request) }
    wait(request, for: read)
  }

  /// The read without which the request cannot be executed; `nil`: none.
  private mutating func neededRead(for request: PendingRequest) -> StoreRead? {
    guard machine.holds(request.family) else {
      return .family(
        request.family, key: request.key, isTrusted: request.isAdministrator || hasPass(request))
    }
    guard case .command(let id, _, _) = request.envelope.request, needsResult(id, request) else {
      return nil
    }
    return .result(id, by: request.envelope.device.device, in: request.family)
  }

  /// Whether the request proves without a read that its key was enrolled in the family.
  private func hasPass(_ request: PendingRequest) -> Bool {
    let pass = request.envelope.pass
    return !pass.isEmpty && passes.isValid(pass, request.family, request.key)
  }

  /// Whether only the store knows the command's result, and the sender's rate limit permits a
  /// lookup.
  private mutating func needsResult(_ id: CommandID, _ request: PendingRequest) -> Bool {
    machine.needsStoredResult(of: id, by: request.envelope.device.device, in: request.family)
      && machine.mayReadStoredResult(
        for: request.envelope.request, from: request.sender, now: request.receivedAt)
  }

  /// Adds the request to those that wait, or refuses it at the limit. The machine has not charged a
  /// refused request, so the request counts once, when it comes again.
  ///
  /// - Parameter read: The read to request; `nil`: an earlier request of the family has requested one.
  private mutating func wait(_ request: PendingRequest, for read: StoreRead? = nil) {
    guard waiting.hasRoom(for: request, isTrusted: read?.isTrusted ?? true) else {
      output.paced += 1
      let retry = pacer.nextRetry(now: request.receivedAt)
      return refuse(request, Problem(code: Problem.overloaded.code, retryAfter: retry))
    }
    waiting.add(request)
    if let read { self.request(read) }
  }

  private mutating func request(_ read: StoreRead) {
    let unwritten = read.isFamily ? cursors.cursors(of: read.family) : []
    waiting.update(read.family) { $0.cursors = unwritten }
    output.reads.append(read)
  }

  /// Receives the result of a read, and handles the requests that waited for it.
  mutating func receive(_ completion: ReadCompletion, now: Instant) {
    switch completion {
    case .republish(let republish, let event):
      let start = output.readers.count
      output.readers += readers(of: republish.audience, in: republish.family)
      guard output.readers.count > start else { return }
      let frame = seal(
        .event(event), republish.family, republish.audience, republish.generation)
      output.broadcasts.append(.init(frame: frame, readers: start..<output.readers.count))
    case .charge(let bytes, let device):
      machine.charge(pageBytes: bytes, to: device, now: now)
    case .family(let family, let loaded):
      guard waiting.holds(family) else { return }
      pacer.familyReceived(now: now)
      install(loaded, family, now: now)
      resume(family, isRead: true)
    case .damaged(let family):
      for request in waiting.remove(family)?.requests ?? [] { refuse(request, .storeDamaged) }
    case .denied(let family): resume(family) { shard, first in _ = shard.execute(first) }
    case .damagedResult(let family):
      resume(family) { shard, first in shard.refuse(first, .storeDamaged) }
    case .result(let command, let device, let family, let event):
      // The family may have been evicted since. Then the result waits for the family.
      waiting.update(family) { $0.result = .init(command: command, device: device, event: event) }
      resume(family)
    }
    evictIfUnknown(completion.family)
  }

  private mutating func install(_ loaded: LoadedFamily, _ family: FamilyID, now: Instant) {
    var unwritten: [StoredCursor] = []
    waiting.update(family) { unwritten = $0.cursors }
    // The newest ones are the last ones.
    let cursors = loaded.cursors + unwritten + self.cursors.cursors(of: family)
    machine.load(
      family, state: loaded.state, snapshotSeq: loaded.snapshotSeq,
      cursors: cursors.map { ($0.device, $0.cursor) },
      passcodeLock: loaded.passcodeLock.flatMap {
        passcodeLocks.open($0.payload, of: family).flatMap(PasscodeLock.init(stored:))
      },
      now: now)
  }

  /// Handles the family's requests in their order. Those that need another read wait again, with all
  /// behind them.
  ///
  /// - Parameter isRead: Whether the family was read for the first request.
  /// - Parameter first: Handles the first request; `nil`: as any other.
  private mutating func resume(
    _ family: FamilyID, isRead: Bool = false,
    first handleFirst: ((inout Shard, PendingRequest) -> Void)? = nil
  ) {
    guard let entry = waiting.remove(family), let first = entry.requests.first else { return }
    if let handleFirst {
      handleFirst(&self, first)
    } else if let result = entry.result, machine.holds(family) {
      machine.setStoredResult(
        of: result.command, by: result.device, event: result.event, in: family)
      _ = execute(first)
    } else if let read = neededRead(for: first) {
      waiting.add(first)
      request(read)
      waiting.update(family) { $0.result = entry.result }
      // Only an identified sender needs a result.
      if isRead { output.readKeys.append((first.key, false)) }
    } else {
      let isRefused = execute(first)
      if isRead { output.readKeys.append((first.key, isRefused)) }
    }
    for request in entry.requests.dropFirst() {
      if waiting.holds(family) { waiting.add(request) } else { process(request) }
    }
  }

  /// Evicts a family that does not exist, so that guessed numbers cannot push real families out of
  /// memory.
  private mutating func evictIfUnknown(_ family: FamilyID) {
    if machine.holds(family), !machine.exists(family) { machine.evict(family) }
  }

  /// Evicts the least recently used families above the shard's share of the limit, an eighth at
  /// once, so that evictions are rare.
  ///
  /// A load starts after the commit of the output before it, so the store has all events of an
  /// evicted family when the family is loaded again.
  mutating func evictExcess() {
    if machine.count > maxFamilies { machine.evict(downTo: maxFamilies - maxFamilies / 8) }
  }
}
