public import FamilyModel

/// What happens on an app's connection to its device.
public enum DeviceEvent: Hashable, Sendable {
  /// The device is there, anew or again.
  case connected
  /// The device is away.
  case disconnected
  /// The device says something.
  case reply(AppReply)
}

/// An app's connection to its device: a socket in production, a value in tests.
///
/// It is an actor whose executor the app's session shares: between the two nothing waits for a thread.
public protocol DeviceConnection: Actor {
  /// What happens, in order. It has one reader.
  nonisolated var events: AsyncStream<DeviceEvent> { get }
  /// Sends, if the device is there; what is lost is asked for again after a reconnection.
  func send(_ request: AppRequest)
}
