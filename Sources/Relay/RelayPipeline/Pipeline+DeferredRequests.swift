import FamilyCore
import FamilyModel
import RelayWire

extension Pipeline {
  /// Runs `body` with access to the shards, then serves the deferred requests and starts a commit.
  ///
  /// The workers stay at rest until ``resumeShards()``.
  package func withShards(_ body: (borrowing ShardAccess) -> Void) {
    shards.whileAtRest { access in
      body(access)
      guarded {
        serveDeferredRequests(access)
        try commit()
      }
    }
  }

  /// Serves the deferred requests of all shards, at most one slice of each, and enqueues all output at
  /// the committer.
  func serveDeferredRequests(_ access: borrowing ShardAccess) {
    access.drainDeferred { request in serve(request, access) }
    enqueueOutput(access)
  }

  private func serve(_ request: PendingRequest, _ access: borrowing ShardAccess) {
    guard failure == nil else { return }
    for part in parts(of: request) { access.withShard(of: part.family) { $0.process(part) } }
    access.withShard(of: request.family) { $0.output.countRequest(bytes: request.bytes) }
  }

  /// Splits a request about many devices into one request per shard, each from the shard's first
  /// device.
  private func parts(of request: PendingRequest) -> [PendingRequest] {
    guard case .present(let others) = request.envelope.request else { return [request] }
    let all = [request.envelope.device] + others
    let byShard = Dictionary(grouping: all) { $0.family.shard(of: shards.workers.count) }
    return byShard.keys.sorted().map { shard in
      var part = request
      part.envelope.device = byShard[shard]![0]
      part.envelope.request = .present(Array(byShard[shard]!.dropFirst()))
      return part
    }
  }
}
