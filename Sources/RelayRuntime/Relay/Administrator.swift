public import FamilyModel
public import Foundation
import RelayWire
import ZeroMQ

/// The administrator's connection to a running relay: one request at a time.
public struct Administrator: ~Copyable {
  /// Milliseconds that an answer may take.
  static let patience = 10_000

  private let context: Context
  private let socket: Socket
  private let keys: RelayKeys
  private var ids = IDSource(seed: .random(in: .min ... .max))
  private var lastID: UInt64 = 0

  /// Connects to the relay of the folder, which must run.
  public init(relay directory: URL) throws {
    let keys = try RelayKeys.read(from: directory)
    let context = try Context()
    var options = SocketOptions()
    options.security = .client(keys.administrator, server: keys.keys.publicKey)
    let socket = try Socket(.dealer, in: context, options: options)
    try socket.connect(RelayKeys.requests(in: directory))
    self.keys = keys
    self.context = context
    self.socket = socket
  }

  /// Sends the command and waits for its acceptance.
  ///
  /// - Throws: the `Problem` for which it is refused; `PrivateFile.Failure` when nobody answers.
  public mutating func send(_ command: Command, to family: FamilyID) throws {
    lastID += 1
    let id = ids.id(now: .now)
    let envelope = Envelope(
      device: DeviceAddress(family: family, device: DeviceID(0)), requestID: lastID,
      request: .command(id, command))
    guard try socket.send([[], envelope.encode()]) == .sent,
      try socket.waitUntilReadable(milliseconds: Self.patience),
      let message = try socket.receive(), message.count == 2
    else {
      throw PrivateFile.Failure(description: "The relay does not answer. Is it running?")
    }
    let reply = try message.withBytes(1) { bytes throws(Problem) in
      try ReplyEnvelope.decode(bytes)
    }
    switch reply.reply {
    case .accepted: return
    case .refused(_, let problem), .failed(let problem): throw problem
    default: throw Problem.malformed
    }
  }
}
