import FamilyModel
import RelayStore
import RelayWire

/// Reads of the store: a batch out, its results in.
///
/// The socket thread reads nothing. A ``StoreReader`` reads on its own thread, beside the commits, and
/// the shards receive what was read through the queues of their workers.
extension Pipeline {
  /// Reads the submitted batch on the calling thread. Call ``turn(uptime:)`` for the results.
  ///
  /// Precondition: ``deferReads`` returned true, and the pipeline has no threads.
  package func performReads() { reader.perform() }

  /// Admits a read whose earlier output is durable.
  func admit(_ read: StoreRead) throws {
    let now = clock()
    switch read {
    case .family(let family, let key, let isTrusted):
      guard
        isTrusted
          || memory.level == .normal
            && unprovenReads.mayRead(key, outstanding: untrustedReads, now: now)
      else {
        return deliver(.denied(family))
      }
      guard !damaged.refuses(family, now: now) else { return deliver(.damaged(family)) }
      if !isTrusted { untrustedReads += 1 }
      reads.enqueue(read)
    case .result: reads.enqueue(read)
    case .page(let page):
      guard reads.hasRoom else {
        counters.pacedRequests += 1
        return try refuse(page)
      }
      guard sockets.mayReplyWithPage(to: page.route) else {
        counters.refusedPages += 1
        return try refuse(page)
      }
      reads.enqueue(read)
    case .republish: if reads.hasRoom { reads.enqueue(read) }
    }
  }

  /// Receives the results of the last batch, and starts the next one.
  func exchangeReads() throws {
    repeat {
      if let results = reader.takeResults() {
        reads.batchEnded(unread: results.unread)
        for (read, outcome) in results.completed { try complete(read, outcome) }
      }
    } while try startReads()
  }

  /// - Returns: Whether a batch was read on this thread.
  private func startReads() throws -> Bool {
    guard failure == nil, case let batch = reads.nextBatch(), !batch.isEmpty else { return false }
    reader.submit(batch, wakesThread: hasThreads)
    guard !hasThreads, !(deferReads?() ?? false) else { return false }
    reader.perform()
    return true
  }

  /// Waits for all reads, and handles the requests that wait for them.
  func finishReads(_ access: borrowing ShardAccess) {
    while failure == nil, reads.isBusy {
      if hasThreads { reader.waitUntilDone() } else { reader.perform() }
      guarded {
        try sendDurable()
        handleWaiting(access)
      }
      flush(access)
    }
  }

  private func complete(_ read: StoreRead, _ outcome: Result<ReadOutcome, any Error>) throws {
    var found: ReadOutcome?
    _ = confined(to: read.family, refuses: read.isFamily) { found = try outcome.get() }
    guard failure == nil else { return }
    if case .family(_, _, isTrusted: false) = read { untrustedReads -= 1 }
    switch (read, found) {
    case (.family(let family, _, _), .family(let loaded)?):
      counters.familyLoads += 1
      damaged.recordLoad(of: family)
      deliver(.family(family, loaded))
    case (.family(let family, _, _), _): deliver(.damaged(family))
    case (.result(let command, let device, let family), .result(let event)?):
      counters.resultLookups += 1
      deliver(.result(command, by: device, in: family, event))
    case (.result(_, _, let family), _): deliver(.damagedResult(family))
    case (.page(let page), .page(let bytes)?): try send(bytes, page)
    case (.page(let page), _): try reply(page.route, page.reply(.failed(.storeDamaged)))
    case (.republish(let republish), .events(let events)?):
      counters.republished += 1
      // Until the event is durable, no event has its number.
      if let event = events.first, event.seq == republish.seq {
        deliver(.republish(republish, event))
      }
    case (.republish, _): break
    }
  }

  /// Sends a page, unless the peer has left the pages before it unread meanwhile. Small pages are paid
  /// for by their request.
  private func send(_ bytes: [UInt8], _ page: StoreRead.Page) throws {
    guard sockets.mayReplyWithPage(to: page.route) else {
      counters.refusedPages += 1
      return try refuse(page)
    }
    try reply(page.route, bytes)
    guard bytes.count > RelayLimits.unchargedPageBytes else { return }
    deliver(.charge(bytes: bytes.count, page.device))
  }

  private func refuse(_ page: StoreRead.Page) throws {
    let problem = Problem.overloaded(retryAfter: RelayLimits.pageRetry)
    try reply(page.route, page.reply(.failed(problem)))
  }

  /// Gives a result to the worker of its family's shard.
  private func deliver(_ completion: ReadCompletion) {
    if case .family = completion { hasLoads = true }
    shards[completion.family].enqueue(completion)
  }
}
