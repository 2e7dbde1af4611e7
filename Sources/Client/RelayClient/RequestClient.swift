import FamilyCore
import FamilyModel
import Foundation
import RelayWire
import SystemClock
import ZeroMQ

/// No relay replied to any attempt of a request.
public struct RelayUnreachable: Error, CustomStringConvertible {
  /// The endpoint and the remedy, for people.
  public let description: String
}

/// A blocking connection to a running relay. One request is in flight at a time, and retried until
/// its reply.
struct RequestClient: ~Copyable {
  /// The time to wait for a reply before a retry.
  static let replyTimeout = Milliseconds.seconds(1)
  /// Attempts of a request before the relay counts as unreachable.
  static let attemptLimit = 10
  /// The longest retry time of the relay that is respected.
  static let overloadWaitLimit = Milliseconds.seconds(10)

  private let context: Context
  let socket: Socket
  private let endpoint: String
  private var ids = IDSource.system
  private var lastID: UInt64 = 0

  /// Creates a connection. The relay must run by the first request.
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

  /// Sends the commands one after the other, and waits until each is accepted.
  ///
  /// - Returns: The id and the sequence number of the last command.
  /// - Throws: The `Problem` of the first refusal, or `RelayUnreachable`.
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

  /// Sends a command and waits until the relay accepts it.
  ///
  /// - Parameter id: The command's id (default: a new one).
  /// - Returns: The command's id and the sequence number of its event.
  /// - Throws: The `Problem` of a refusal, or `RelayUnreachable`.
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

  /// Requests the evaluation of a blinded passcode.
  ///
  /// - Throws: The `Problem` of a refusal, or `RelayUnreachable`.
  mutating func evaluate(_ element: [UInt8], isNew: Bool, from device: DeviceAddress) throws
    -> PasscodeEvaluation
  {
    switch try request(.evaluate(element, isNew: isNew), from: device) {
    case .evaluated(let evaluation): return evaluation
    case .failed(let problem): throw problem
    default: throw Problem.malformed
    }
  }

  /// Sends a join request.
  ///
  /// - Returns: The new device's number; 0 until a roster lists the device.
  mutating func join(_ join: JoinRequest, in family: FamilyID) throws -> DeviceID {
    let nobody = DeviceAddress(family: family, device: DeviceID(0))
    switch try request(.join(join), from: nobody) {
    case .joined(let device): return device
    case .refused(_, let problem), .failed(let problem): throw problem
    default: throw Problem.malformed
    }
  }

  /// Reads all events of the audience, page by page. Contents stay sealed.
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

  /// Sends the request until its reply arrives. Retries repeat the same bytes, so a command keeps
  /// its id.
  private mutating func request(_ request: Request, from device: DeviceAddress) throws -> Reply {
    let envelope = Envelope(device: device, requestID: nextRequestID(), request: request)
    var overloaded: Reply?
    for _ in 0..<Self.attemptLimit {
      _ = try socket.send([[], envelope.encode()])
      guard let reply = try receiveReply() else { continue }
      guard let wait = reply.overloadWait else { return reply }
      overloaded = reply
      usleep(UInt32(max(Self.replyTimeout, min(wait, Self.overloadWaitLimit)).count) * 1_000)
    }
    if let overloaded { return overloaded }
    throw unreachable
  }

  var unreachable: RelayUnreachable {
    RelayUnreachable(
      description:
        "No relay answers at \(endpoint). Check that it runs and has the keys of the credential.")
  }

  /// The number of the next request.
  mutating func nextRequestID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// The reply to the last request; `nil` after ``replyTimeout``.
  private func receiveReply() throws -> Reply? {
    while try socket.waitUntilReadable(within: .milliseconds(Self.replyTimeout.count)) {
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
  /// The retry time of a relay that is overloaded or limits this device; `nil` for
  /// other replies.
  var overloadWait: Milliseconds? {
    switch self {
    case .refused(_, let problem), .failed(let problem):
      problem.code == Problem.overloaded.code
        || problem.code > Problem.overloaded.code && problem.retryAfter > .zero
        ? problem.retryAfter : nil
    default: nil
    }
  }
}
