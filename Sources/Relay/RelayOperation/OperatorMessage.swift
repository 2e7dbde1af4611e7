public import Foundation

/// A request of the operator's programs to the relay.
///
/// The relay listens at a Unix socket in its folder, which only the folder's owner can reach. A
/// message is one JSON object.
public enum OperatorRequest: Codable, Sendable, Hashable {
  /// The relay's statistics.
  case statistics
  /// Begins a copy of the store, unless one is under way.
  case beginBackup
  /// The state of the last copy.
  case backup
  /// The events after a position. `isDurable`: all events before it are in durable segments.
  case log(after: LogPosition, isDurable: Bool)
}

/// The relay's reply to an ``OperatorRequest``.
public enum OperatorReply: Codable, Sendable, Hashable {
  /// The statistics of this moment.
  case statistics(RelayStatistics)
  /// The state of the last copy.
  case backup(BackupState)
  /// The next part of the log.
  case log(LogReply)
  /// The relay does not know the request, or could not serve it.
  case refused(String)
}

/// The endpoint for operators.
public enum OperatorEndpoint {
  /// The largest message in bytes. A larger one ends its connection.
  ///
  /// The largest event of the log fits, in Base64.
  package static let maximumBytes = 4 << 20

  /// The endpoint of the relay with this folder.
  public static func endpoint(in directory: URL) -> String {
    "ipc://\(directory.appendingPathComponent("operator.ipc").path)"
  }
}
