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
    _ commands: some Sequence<(device: DeviceAddress, command: Command)>,
    progress: (Int) -> Void
  ) throws {
    var next = commands.makeIterator()
    var pending: [UInt64: (envelope: [UInt8], id: CommandID)] = [:]
    var accepted = 0
    var silences = 0
    while true {
      while pending.count < Self.window, let (device, command) = next.next() {
        let (id, request) = newCommand()
        let bytes = Envelope(device: device, requestID: request, request: .command(id, command))
          .encode()
        pending[request] = (bytes, id)
        _ = try socket.send([[], bytes])
      }
      if pending.isEmpty { return progress(accepted) }
      guard try socket.waitUntilReadable(milliseconds: Self.retry) else {
        silences += 1
        guard silences < Self.attempts else { throw unreachable }
        // The same commands: those that were taken are accepted once more.
        for request in pending.keys.sorted() {
          _ = try socket.send([[], pending[request]!.envelope])
        }
        continue
      }
      silences = 0
      while let message = try socket.receive() {
        guard message.count == 2 else { continue }
        let reply = try message.withBytes(1) { bytes throws(Problem) in
          try ReplyEnvelope.decode(bytes)
        }
        // It stays pending, and goes out again after a silence.
        if reply.reply.isOverload { continue }
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
