import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

extension Pipeline {
  /// Commits the output of all shards, waits until it is durable, and sends it.
  func flush(_ access: borrowing ShardAccess) {
    guarded {
      enqueueOutput(access)
      committer.finish()
      try sendDurable()
      evict(access)
    }
  }

  /// Starts a commit of the queued output: on this thread if no request waits, otherwise on the
  /// committer's thread.
  func commit() throws {
    try sendDurable()
    guard failure == nil else { return }
    let isIdle = shards.isAtRest && shards.waitingCount == 0
    guard isIdle || !hasThreads else { return committer.wake() }
    committer.commitOnCallingThread()
    try sendDurable()
  }

  /// Enqueues the output of all shards at the committer.
  func enqueueOutput(_ access: borrowing ShardAccess) {
    access.forEachShard { $0.enqueueOutput(at: committer, now: clock(), wakesThread: false) }
  }

  /// Sends all durable output. Sends nothing after a failure.
  ///
  /// - Throws: The error of a failed commit, after the output that was durable before it is sent.
  func sendDurable() throws {
    guard failure == nil else { return }
    try send(&refusals)
    let (commits, failure) = committer.exchange(&durable)
    counters.commits = commits
    for index in durable.indices { try send(&durable[index]) }
    if let failure { throw failure }
  }

  private func send(_ output: inout ShardOutput) throws {
    for attachment in output.attachments {
      let inbox = inboxes.attached(attachment.device, attachment.key)
      ReplyEnvelope.append(inbox, to: &output.replies[attachment.reply].bytes)
    }
    // A disconnected peer retries after it reconnects.
    for (route, bytes) in output.replies { try reply(route, bytes) }
    for broadcast in output.broadcasts {
      try publish(broadcast.frame, to: output.readers[broadcast.readers])
    }
    for page in output.pages { try send(page) }
    try republish(output.republishes)
    for (descriptor, epoch) in output.provenDescriptors {
      sockets.prove(descriptor, receivedIn: epoch)
    }
    counters.malformed += output.malformed
    if !output.refusals.isEmpty { counters.refusals.merge(output.refusals, uniquingKeysWith: +) }
    counters.events += output.events.count
    inFlight.requests -= output.requests
    inFlight.bytes -= output.bytes
    output.removeAll()
  }

  /// Publishes the frame on the inbox of each reader that has one.
  private func publish(_ frame: [UInt8], to readers: some Sequence<PeerKey>) throws {
    for reader in readers {
      if let topic = inboxes.topic(of: reader) { try sockets.publish(topic, frame) }
    }
  }

  private func reply(_ route: [UInt8], _ bytes: [UInt8]) throws {
    if try !sockets.reply(route, bytes) { counters.undeliveredReplies += 1 }
  }

  private func send(_ request: ShardOutput.Page) throws {
    var answer = Reply.failed(.storeDamaged)
    if !sockets.mayReplyWithPage(to: request.route) {
      counters.refusedPages += 1
      answer = .failed(.overloaded(retryAfter: RelayLimits.pageRetry))
    } else {
      _ = confined(to: request.device.family, refuses: false) {
        let page = try page(
          request.device.family, request.audience, request.after, configuration.pageEvents)
        answer = .page(request.audience, page.events, more: page.more, upTo: request.upTo)
        charge(page.bytes, to: request.device)
      }
    }
    let envelope = ReplyEnvelope(device: request.device, requestID: request.id, reply: answer)
    try reply(request.route, envelope.encode())
  }

  /// Charges a page to its device. Small pages are paid for by their request.
  private func charge(_ bytes: Int, to device: DeviceAddress) {
    guard bytes > RelayLimits.unchargedPageBytes else { return }
    shards.whileAtRest { access in
      access.withShard(of: device.family) {
        $0.machine.charge(pageBytes: bytes, to: device, now: clock())
      }
    }
  }

  private func republish(_ requests: [ShardOutput.Republish]) throws {
    guard !requests.isEmpty else { return }
    // Each shard seals for its own families.
    try shards.whileAtRest { access in
      for request in requests { try republish(request, access) }
    }
  }

  private func republish(_ request: ShardOutput.Republish, _ access: borrowing ShardAccess) throws {
    counters.republished += 1
    // Until the event is durable, no event has its number.
    var events: [Event] = []
    _ = confined(to: request.family, refuses: false) {
      events = try page(request.family, request.audience, request.seq - 1, 1).events
    }
    for event in events where event.seq == request.seq {
      let (frame, readers) = access.withShard(of: request.family) { shard in
        (
          shard.seal(.event(event), request.family, request.audience, request.generation),
          shard.readers(of: request.audience, in: request.family)
        )
      }
      try publish(frame, to: readers)
    }
  }

  private func page(_ family: FamilyID, _ audience: Audience, _ after: UInt64, _ limit: Int) throws
    -> (events: [Event], bytes: Int, more: Bool)
  {
    let page = try committer.read { store throws(StoreError) in
      try store.events(
        of: family, audience, after: after, limit: limit, bytes: Limits.pageBytes)
    }
    let bytes = page.events.reduce(0) { $0 + $1.payload.count }
    return (try page.events.map { try Event.decode($0.payload) }, bytes, page.more)
  }

  /// Evicts the least recently used families above the limit, an eighth of the limit at once, so
  /// that evictions are rare.
  ///
  /// Precondition: all output is durable. A family with uncommitted events must not be loaded from
  /// the store.
  func evict(_ access: borrowing ShardAccess) {
    let count = access.familyCount
    guard count > configuration.maxFamilies else { return }
    let remaining = configuration.maxFamilies - configuration.maxFamilies / 8
    // Every shard keeps the same fraction of its families.
    access.forEachShard { $0.machine.evict(downTo: $0.machine.count * remaining / count) }
  }
}
