import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The sizes that reads depend on.
struct ReadSizes: Sendable {
  /// See ``PipelineConfiguration/resultsPerFamily``.
  var resultsKept: Int
  /// See ``PipelineConfiguration/pageEvents``.
  var pageEvents: Int
}

extension StoreRead {
  /// Reads, decodes and folds what the store has, on the reader's thread.
  ///
  /// - Returns: The outcome, and the bytes that were read.
  func perform(_ store: any EventReading, _ sizes: ReadSizes) throws -> (ReadOutcome, bytes: Int) {
    switch self {
    case .family(let family, _, _):
      let snapshot = try store.snapshot(of: family)
      let restored = snapshot.flatMap {
        FamilyState(snapshot: $0.payload, resultsKept: sizes.resultsKept)
      }
      var state = restored ?? FamilyState(resultsKept: sizes.resultsKept)
      let stored = try store.load(family, after: state.seq)
      let snapshotSeq = state.seq
      for event in stored.events { state.apply(try Event.decode(event.payload)) }
      let bytes = (snapshot?.payload.count ?? 0) + stored.events.payloadBytes
      return (
        .family(
          LoadedFamily(
            state: state, snapshotSeq: snapshotSeq, cursors: stored.cursors,
            passcodeLock: stored.passcodeLock)), bytes
      )
    case .result(let command, let device, let family):
      let stored = try store.event(of: command, by: device, in: family)
      return (
        .result(try stored.map { try Event.decode($0.payload) }), stored?.payload.count ?? 0
      )
    case .page(let page):
      let stored = try store.events(
        of: page.device.family, page.audience, after: page.after, through: page.upTo,
        limit: sizes.pageEvents, bytes: Limits.pageBytes)
      let reply = Reply.page(
        page.audience, try stored.events.map { try Event.decode($0.payload) }, more: stored.more,
        upTo: page.upTo)
      return (.page(page.reply(reply)), stored.events.payloadBytes)
    case .republish(let republish):
      let stored = try store.events(
        of: republish.family, republish.audience, after: republish.seq - 1,
        through: republish.seq, limit: 1, bytes: Limits.pageBytes)
      return (
        .events(try stored.events.map { try Event.decode($0.payload) }), stored.events.payloadBytes
      )
    }
  }
}

extension StoreRead.Page {
  /// The encoded reply to the request.
  func reply(_ reply: Reply) -> [UInt8] {
    ReplyEnvelope(device: device, requestID: id, reply: reply).encode()
  }
}

extension [StoredEvent] {
  fileprivate var payloadBytes: Int { reduce(0) { $0 + $1.payload.count } }
}
