public import Foundation
import ZeroMQ

/// A program's connection to the relay with a folder on this machine.
public struct OperatorClient: ~Copyable {
  /// The time that a relay may take to reply.
  public static let patience = 5

  private let context: Context
  private let socket: Socket
  private let directory: URL

  /// Connects to the relay with this folder in the background.
  public init(directory: URL) throws {
    var options = SocketOptions()
    options.maximumMessageSize = Int64(OperatorEndpoint.maximumBytes)
    let context = try Context()
    let socket = try Socket(.req, in: context, options: options)
    try socket.connect(OperatorEndpoint.endpoint(in: directory))
    self.context = context
    self.socket = socket
    self.directory = directory
  }

  /// The relay's statistics.
  ///
  /// After an error this client is of no further use.
  ///
  /// - Throws: ``OperatorError`` if the relay does not reply in time, or refuses.
  public func statistics() throws -> RelayStatistics {
    guard case .statistics(let statistics) = try reply(to: .statistics) else {
      throw OperatorError(description: "The relay sent another reply than its statistics.")
    }
    return statistics
  }

  /// Begins a copy of the store, unless one is under way.
  ///
  /// - Throws: ``OperatorError`` as ``statistics()``.
  public func beginBackup() throws -> BackupState { try backup(.beginBackup) }

  /// The state of the last copy.
  ///
  /// - Throws: ``OperatorError`` as ``statistics()``, and if no copy was begun.
  public func backup() throws -> BackupState { try backup(.backup) }

  /// The events after a position of the log.
  ///
  /// - Parameter isDurable: Whether all events before the position are in durable segments.
  /// - Throws: ``OperatorError`` as ``statistics()``, and if the position is not one of the relay's log.
  public func log(after position: LogPosition, isDurable: Bool) throws -> LogReply {
    guard case .log(let part) = try reply(to: .log(after: position, isDurable: isDurable)) else {
      throw OperatorError(description: "The relay sent another reply than a part of its log.")
    }
    return part
  }

  private func backup(_ request: OperatorRequest) throws -> BackupState {
    guard case .backup(let state) = try reply(to: request) else {
      throw OperatorError(description: "The relay sent another reply than the state of a copy.")
    }
    return state
  }

  private func reply(to request: OperatorRequest) throws -> OperatorReply {
    _ = try socket.send([[UInt8](JSONEncoder().encode(request))])
    guard try socket.waitUntilReadable(within: .seconds(Self.patience)),
      let message = try socket.receive()
    else {
      throw OperatorError(
        description:
          "No relay answers for the folder '\(directory.path)' within \(Self.patience) s. "
          + "Start it: relay --directory '\(directory.path)'", isSilence: true)
    }
    let reply = try JSONDecoder().decode(OperatorReply.self, from: Data(message.bytes(0)))
    if case .refused(let reason) = reply { throw OperatorError(description: reason) }
    return reply
  }
}

/// The relay does not answer its operator, or refuses.
public struct OperatorError: Error, CustomStringConvertible {
  /// The sentence, with the next step.
  public let description: String
  /// Whether no relay answered.
  public var isSilence = false
}
