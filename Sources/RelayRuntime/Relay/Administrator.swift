public import FamilyModel
public import Foundation
import RelayWire
import ZeroMQ

/// The administrator's connection to a running relay: one request at a time.
public struct Administrator: ~Copyable {
  /// A relay that cannot be reached, and what to do.
  public struct Unreachable: Error, CustomStringConvertible {
    /// What is wrong, and what to do.
    public let description: String
  }

  /// Milliseconds after which a request is sent again.
  static let retry = 1_000
  /// How often a request is sent before nobody is believed to listen.
  static let attempts = 10

  private let context: Context
  private let socket: Socket
  private let endpoint: String
  private var ids = IDSource(seed: .random(in: .min ... .max))
  private var lastID: UInt64 = 0

  /// Connects to the relay, which must run by the first request.
  public init(_ credential: AdministratorCredential) throws {
    let context = try Context()
    var options = SocketOptions()
    options.security = .client(credential.keys, server: credential.relayKey)
    let socket = try Socket(.dealer, in: context, options: options)
    try socket.connect(credential.requests)
    endpoint = credential.requests
    self.context = context
    self.socket = socket
  }

  /// Connects to the relay of the folder, which has the administrator's credential.
  public init(relay directory: URL) throws {
    let file = AdministratorCredential.file(in: directory)
    try self.init(try AdministratorCredential.read(from: file))
  }

  /// Sends the command and waits for its acceptance.
  ///
  /// - Parameter id: The command's id; a new one, unless given.
  /// - Throws: the `Problem` for which it is refused; `Unreachable` when nobody answers.
  public mutating func send(_ command: Command, to family: FamilyID, id: CommandID? = nil) throws {
    switch try request(.command(id ?? ids.id(now: .now), command), to: family) {
    case .accepted: return
    case .refused(_, let problem), .failed(let problem): throw problem
    default: throw Problem.malformed
    }
  }

  /// Everything that was ever said in the audience: the family's rosters, or an account's records.
  public mutating func history(of audience: Audience, in family: FamilyID) throws -> [Event] {
    var events: [Event] = []
    while true {
      let reply = try request(.fetch(audience, after: events.last?.seq ?? 0), to: family)
      guard case .page(_, let page, let more) = reply.opened() else {
        if case .failed(let problem) = reply { throw problem }
        throw Problem.malformed
      }
      events += page
      if !more { return events }
    }
  }

  /// Sends the request, again and again: a repeated command is the same command.
  private mutating func request(_ request: Request, to family: FamilyID) throws -> Reply {
    lastID += 1
    let envelope = Envelope(
      device: DeviceAddress(family: family, device: DeviceID(0)), requestID: lastID,
      request: request)
    for _ in 0..<Self.attempts {
      _ = try socket.send([[], envelope.encode()])
      while try socket.waitUntilReadable(milliseconds: Self.retry) {
        guard let message = try socket.receive(), message.count == 2 else { continue }
        let reply = try message.withBytes(1) { bytes throws(Problem) in
          try ReplyEnvelope.decode(bytes)
        }
        if reply.requestID == lastID { return reply.reply }
        if reply.requestID == 0, case .failed(let problem) = reply.reply { throw problem }
      }
    }
    throw Unreachable(
      description: "No relay answers at \(endpoint). Is it running, with the keys of this folder?")
  }
}
