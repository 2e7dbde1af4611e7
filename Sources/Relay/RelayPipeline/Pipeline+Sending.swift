import FamilyModel
import RelayWire

extension Pipeline {
  /// Commits the output of all shards, waits until it is durable, and sends it.
  func flush(_ access: borrowing ShardAccess) {
    guarded {
      enqueueOutput(access)
      committer.finish()
      try sendDurable()
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
    try exchangeReads()
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
    for read in output.reads { try admit(read) }
    for (key, isRefused) in output.readKeys {
      unprovenReads.recordRead(for: key, isRefused: isRefused, now: clock())
    }
    for (descriptor, epoch) in output.provenDescriptors {
      sockets.prove(descriptor, receivedIn: epoch)
    }
    counters.malformed += output.malformed
    if !output.refusals.isEmpty { counters.refusals.merge(output.refusals, uniquingKeysWith: +) }
    counters.events += output.events.count
    counters.pacedRequests += output.paced
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

  func reply(_ route: [UInt8], _ bytes: [UInt8]) throws {
    if try !sockets.reply(route, bytes) { counters.undeliveredReplies += 1 }
  }
}
