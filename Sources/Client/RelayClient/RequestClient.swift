import FamilyCore
import FamilyModel
import Foundation
import RelayWire
import SystemClock
import ZeroMQ

/// A relay that cannot be reached, and what to do.
public struct RelayUnreachable: Error, CustomStringConvertible {
  /// What is wrong, and what to do.
  public let description: String
}

/// A blocking connection to a running relay: one request at a time, sent again until it is answered.
struct RequestClient: ~Copyable {
  /// Milliseconds after which a request is sent again.
  static let retry = 1_000
  /// How often a request is sent before nobody is believed to listen.
  static let attempts = 10
  /// Milliseconds that a request waits at most because the relay says so.
  static let longestWait: UInt32 = 10_000

  private let context: Context
  let socket: Socket
  private let endpoint: String
  private var ids = IDSource(seed: .random(in: .min ... .max))
  private var lastID: UInt64 = 0

  /// Connects to the relay, which must run by the first request.
  init(_ keys: CurveKeyPair, relay: CurvePublicKey, at endpoint: String) throws {
    let context = try Context()
    var options = SocketOptions()
    options.security = .client(keys, server: relay)
    let socket = try Socket(.dealer, in: context, options: options)
    try socket.connect(endpoint)
    self.endpoint = endpoint
    self.context = context
    self.socket = socket
  }

  /// Sends the commands one after the other, and waits for the acceptance of each.
  ///
  /// - Throws: the `Problem` for which one is refused; `RelayUnreachable` when nobody answers.
  @discardableResult
  mutating func send(_ commands: [SignedCommand], from device: DeviceAddress) throws
    -> (id: CommandID, seq: UInt64)
  {
    var last: (id: CommandID, seq: UInt64)?
    for command in commands {
      last = try send(command.command, command.signature, from: device, id: command.id)
    }
    guard let last else { throw Problem.malformed }
    return last
  }

  /// Sends the command and waits for its acceptance.
  ///
  /// - Parameter id: The command's id; a new one, unless given.
  /// - Returns: the command's id, and the place of its event.
  /// - Throws: the `Problem` for which it is refused; `RelayUnreachable` when nobody answers.
  @discardableResult
  mutating func send(
    _ command: Command, _ signature: Signature? = nil, from device: DeviceAddress,
    id: CommandID? = nil
  ) throws -> (id: CommandID, seq: UInt64) {
    switch try request(.command(id ?? ids.id(now: .now), command, signature), from: device) {
    case .accepted(let id, let seq): return (id, seq)
    case .refused(_, let problem), .failed(let problem): throw problem
    default: throw Problem.malformed
    }
  }

  /// Asks to join; the device that it is now, or device zero.
  mutating func join(_ join: JoinRequest, in family: FamilyID) throws -> DeviceID {
    let nobody = DeviceAddress(family: family, device: DeviceID(0))
    switch try request(.join(join), from: nobody) {
    case .joined(let device): return device
    case .refused(_, let problem), .failed(let problem): throw problem
    default: throw Problem.malformed
    }
  }

  /// Everything that was ever said in the audience, page by page, with its contents as they are.
  mutating func history(of audience: Audience, from device: DeviceAddress) throws -> [Event] {
    var events: [Event] = []
    while true {
      let reply = try request(.fetch(audience, after: events.last?.seq ?? 0), from: device)
      guard case .page(audience, let page, let more) = reply else {
        if case .failed(let problem) = reply { throw problem }
        throw Problem.malformed
      }
      events += page
      if !more || page.isEmpty { return events }
    }
  }

  /// Sends the request, again and again: a repeated command is the same command.
  private mutating func request(_ request: Request, from device: DeviceAddress) throws -> Reply {
    let envelope = Envelope(device: device, requestID: nextRequest(), request: request)
    var overload: Reply?
    for _ in 0..<Self.attempts {
      _ = try socket.send([[], envelope.encode()])
      guard let reply = try reply() else { continue }
      guard let wait = reply.overload else { return reply }
      overload = reply
      usleep(max(UInt32(Self.retry), min(wait, Self.longestWait)) * 1_000)
    }
    if let overload { return overload }
    throw unreachable
  }

  var unreachable: RelayUnreachable {
    RelayUnreachable(
      description:
        "No relay answers at \(endpoint). Is it running, with the keys that the credential is for?")
  }

  /// The number of a new request.
  mutating func nextRequest() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// The reply to the last request; `nil`: it has not come in time.
  private func reply() throws -> Reply? {
    while try socket.waitUntilReadable(milliseconds: Self.retry) {
      guard let message = try socket.receive(), message.count == 2 else { continue }
      let reply = try message.withBytes(1) { bytes throws(Problem) in
        try ReplyEnvelope.decode(bytes)
      }
      if reply.requestID == lastID { return reply.reply }
      if reply.requestID == 0, case .failed(let problem) = reply.reply { throw problem }
    }
    return nil
  }
}

extension Reply {
  /// Milliseconds that the relay asks for, when it has more to do than it can, or has had too much of this
  /// device, and may take the same request later.
  var overload: UInt32? {
    switch self {
    case .refused(_, let problem), .failed(let problem):
      problem.code == Problem.overloaded.code || problem.retryAfter > 0 ? problem.retryAfter : nil
    default: nil
    }
  }
}
