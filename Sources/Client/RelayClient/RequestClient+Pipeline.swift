import FamilyCore
import FamilyModel
import RelayWire
import ZeroMQ

extension RequestClient {
  /// Commands in flight at any time; below the socket's high-water mark.
  static let inFlightLimit = 512

  /// Sends the commands, many in flight, and waits until all are accepted.
  ///
  /// - Parameter progress: Called repeatedly with the number of accepted commands.
  /// - Throws: The `Problem` of the first refusal, or `RelayUnreachable`.
  mutating func sendAll(
    _ commands: some Sequence<(device: DeviceAddress, command: SignedCommand)>,
    progress: (Int) -> Void
  ) throws {
    var next = commands.makeIterator()
    var pending: [UInt64: [UInt8]] = [:]
    var accepted = 0
    var timeouts = 0
    while true {
      while pending.count < Self.inFlightLimit, let (device, command) = next.next() {
        let id = nextRequestID()
        let request = Request.command(command.id, command.command, command.signature)
        let envelope = Envelope(device: device, requestID: id, request: request).encode()
        pending[id] = envelope
        _ = try socket.send([[], envelope])
      }
      if pending.isEmpty { return progress(accepted) }
      guard try socket.waitUntilReadable(within: .milliseconds(Self.replyTimeout.count)) else {
        timeouts += 1
        guard timeouts < Self.attemptLimit else { throw unreachable }
        // Retries keep the commands' ids: the relay accepts a committed command once more.
        for id in pending.keys.sorted() { _ = try socket.send([[], pending[id]!]) }
        continue
      }
      timeouts = 0
      while let message = try socket.receive() {
        guard message.count == 2 else { continue }
        let reply = try message.withBytes(1) { bytes throws(Problem) in
          try ReplyEnvelope.decode(bytes)
        }
        // The command stays pending until the next timeout.
        if reply.reply.overloadWait != nil { continue }
        switch reply.reply {
        case .accepted: if pending.removeValue(forKey: reply.requestID) != nil { accepted += 1 }
        case .refused(_, let problem), .failed(let problem): throw problem
        default: throw Problem.malformed
        }
      }
      progress(accepted)
    }
  }
}
