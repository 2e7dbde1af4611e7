public import FamilyModel

/// An event of an app's connection to its device.
@_documentation(visibility: internal)
public enum DeviceEvent: Hashable, Sendable {
  /// The connection is up, for the first time or again.
  case connected
  /// The connection is down.
  case disconnected
  /// The device sent a message.
  case reply(AppReply)
}

/// An app's connection to its device: a socket in production, a value in tests.
///
/// The app's session runs on this actor's executor, so the two exchange messages without a thread
/// hop.
@_documentation(visibility: internal)
public protocol DeviceConnection: Actor {
  /// The events of the connection, in order. Precondition: one reader.
  nonisolated var events: AsyncStream<DeviceEvent> { get }
  /// Sends a request, or drops it while the connection is down. The session repeats open requests
  /// after a reconnection.
  func send(_ request: AppRequest)
}
