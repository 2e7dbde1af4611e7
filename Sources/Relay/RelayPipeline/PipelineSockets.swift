package import ZeroMQ

/// A relay's two sockets, as its pipeline uses them.
package protocol PipelineSockets: AnyObject {
  /// Receives the next request, if one waits.
  func receive(into message: inout Multipart) throws -> ReceiveResult
  /// No request waits any more.
  func hasReceivedAll()
  /// The epoch of the connections: see ``ConnectionGuard/epoch``.
  var epoch: UInt64 { get }
  /// Stops or resumes waiting for requests.
  func muteRequests(_ isMuted: Bool)
  /// Sends a reply without blocking.
  ///
  /// - Returns: Whether the peer's queue took the reply.
  func reply(_ route: [UInt8], _ bytes: [UInt8]) throws -> Bool
  /// Whether a page may be sent to the peer, which has read most of the replies before.
  func mayReplyWithPage(to route: [UInt8]) -> Bool
  /// Broadcasts a frame on the topic of an inbox without blocking. Messages to a slow peer are dropped.
  func publish(_ topic: [UInt8], _ frame: [UInt8]) throws
  /// The peer of the connection has proved its identity.
  func prove(_ descriptor: Int32, receivedIn epoch: UInt64)
}

extension PipelineSockets {
  /// In memory, peers read at once.
  package func mayReplyWithPage(to route: [UInt8]) -> Bool { true }
}
