package import FamilyModel
import RelayWire
import ZeroMQ

extension Pipeline {
  /// Receives the waiting requests. Handles and commits them on this thread if they are few;
  /// otherwise wakes the workers.
  package func drainRequests() {
    guarded {
      try receive()
      var rounds = 0
      while rounds < RelayLimits.inlineRounds, failure == nil, handleIfFew() {
        rounds += 1
        try receive()
        try commit()
      }
      try sendDurable()
    }
    resumeShards()
  }

  /// Handles the waiting requests on this thread if no worker runs and too few wait to wake one.
  ///
  /// - Returns: Whether requests were handled.
  private func handleIfFew() -> Bool {
    shards.ifAtRest { access in
      // The socket thread installs no families if a worker can.
      guard (1..<configuration.wakeThreshold).contains(shards.waitingCount),
        !(hasThreads && hasLoads)
      else { return false }
      handleWaiting(access)
      return true
    }
  }

  /// Handles all waiting requests on this thread.
  func handleWaiting(_ access: borrowing ShardAccess) {
    hasLoads = false
    serveDeferredRequests(access)
    while shards.waitingCount > 0, failure == nil {
      access.handleSlices()
      serveDeferredRequests(access)
    }
  }

  /// Receives requests up to the limits, and enqueues each one at the worker of its family's shard.
  private func receive() throws {
    var (count, enqueued) = (0, 0)
    hasMoreToReceive = true
    admission.batchBegins(now: clock())
    // Requests that are refused here are not in flight. The count bounds them, so that the workers
    // are woken soon.
    while count < configuration.maxRequestsInFlight, !isAtLimit {
      let result = try sockets.receive(into: &message)
      guard result != .nothing else {
        hasMoreToReceive = false
        sockets.hasReceivedAll()
        break
      }
      count += 1
      // Frames are [identity][empty][body], as REQ sends them, or a DEALER that adds the empty
      // frame.
      guard result == .message, message.count == 3, message.withBytes(1, { $0.isEmpty }) else {
        refusals.appendFailure(.malformed, message.bytes(0))
        continue
      }
      if shedIfOverloaded() || refuseForMemory() { continue }
      inFlight.requests += 1
      inFlight.bytes += message.withBytes(2) { $0.count }
      // If the envelope names no family, any shard may reject it.
      let family = message.withBytes(2) { Envelope.family($0) } ?? FamilyID(0)
      message.epoch = sockets.epoch
      shards[family].enqueue(&message)
      enqueued += 1
      if enqueued.isMultiple(of: configuration.requestsPerSlice) { wakeWorkers() }
    }
    counters.requests += count
    admission.batchEnds(isQueueEmpty: !hasMoreToReceive)
    for worker in shards.workers { worker.setBacklogged(admission.isBacklogged) }
  }

  /// Refuses the message with a retry time if it is a question and admission sheds it.
  ///
  /// - Returns: Whether the message was refused.
  private func shedIfOverloaded() -> Bool {
    guard admission.isShedding, let peek = message.withBytes(2, { Envelope.peek($0) }),
      peek.isQuestion, let id = peek.commandID, let retryAfter = admission.shedQuestion()
    else { return false }
    counters.shedQuestions += 1
    let problem = Problem(code: Problem.overloaded.code, retryAfter: retryAfter)
    refusals.refusals[Int(problem.code), default: 0] += 1
    let reply = ReplyEnvelope(
      device: peek.device, requestID: peek.requestID, reply: .refused(id, problem))
    refusals.replies.append((message.bytes(0), reply.encode()))
    return true
  }

  /// Refuses the message with a retry time if memory is short and its reply is large: an attachment or
  /// a page. Commands pass, because answers end work.
  ///
  /// - Returns: Whether the message was refused.
  private func refuseForMemory() -> Bool {
    guard memory.level == .critical,
      let envelope = message.withBytes(2, { try? Envelope.decode($0) })
    else { return false }
    switch envelope.request {
    case .attach, .fetch: break
    default: return false
    }
    counters.refusedForMemory += 1
    let problem = Problem.overloaded(retryAfter: RelayLimits.memoryRetry)
    refusals.refusals[Int(problem.code), default: 0] += 1
    let reply = ReplyEnvelope(
      device: envelope.device, requestID: envelope.requestID, reply: .failed(problem))
    refusals.replies.append((message.bytes(0), reply.encode()))
    return true
  }

  /// Handles a subscription of the owner of the key. The heads of the devices that attached last
  /// follow on the inbox.
  ///
  /// - Parameter topic: The requested topic; only ``Inbox/subscription`` is approved.
  /// - Returns: The inbox to approve in place of the topic; `nil` refuses the subscription. The host
  ///   subscribes again when a reply has another inbox.
  package func subscribe(to topic: [UInt8], key: [UInt8], _ access: borrowing ShardAccess) -> Inbox?
  {
    guard let peer = PeerKey(key), let (inbox, devices) = inboxes.subscribe(peer, to: topic) else {
      return nil
    }
    for device in devices {
      access.withShard(of: device.family) { $0.subscribed(device, key: key, now: clock()) }
    }
    return inbox
  }
}
