import FamilyCore
import FamilyModel
import RelayWire
import ZeroMQ

extension RequestClient {
  /// Commands on the way at any time: fewer than the socket takes.
  static let window = 512

  /// Sends the commands, many at a time, and waits for the acceptance of all.
  ///
  /// - Parameter progress: Called with the number of commands that were accepted, now and then.
  /// - Throws: the `Problem` of the first that is refused; `RelayUnreachable` when nobody answers.
  mutating func sendAll(
    _ commands: some Sequence<(device: DeviceAddress, command: SignedCommand)>,
    progress: (Int) -> Void
  ) throws {
    var next = commands.makeIterator()
    var pending: [UInt64: [UInt8]] = [:]
    var accepted = 0
    var silences = 0
    while true {
      while pending.count < Self.window, let (device, command) = next.next() {
        let id = nextRequest()
        let request = Request.command(command.id, command.command, command.signature)
        let envelope = Envelope(device: device, requestID: id, request: request).encode()
        pending[id] = envelope
        _ = try socket.send([[], envelope])
      }
      if pending.isEmpty { return progress(accepted) }
      guard try socket.waitUntilReadable(milliseconds: Self.retry) else {
        silences += 1
        guard silences < Self.attempts else { throw unreachable }
        // The same commands: those that were taken are accepted once more.
        for id in pending.keys.sorted() { _ = try socket.send([[], pending[id]!]) }
        continue
      }
      silences = 0
      while let message = try socket.receive() {
        guard message.count == 2 else { continue }
        let reply = try message.withBytes(1) { bytes throws(Problem) in
          try ReplyEnvelope.decode(bytes)
        }
        // It stays pending, and goes out again after a silence.
        if reply.reply.overload != nil { continue }
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
