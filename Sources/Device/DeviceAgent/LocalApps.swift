public import FamilyCore
public import FamilyModel

/// Apps inside the host's process, instead of programs that connect over a socket.
///
/// Load generators simulate many thousands of children's devices this way. The methods are called
/// on the host's thread, and the host applies the returned inputs at once.
public protocol LocalApps: Sendable {
  /// An app receives a reply of its device.
  ///
  /// - Returns: The app's requests.
  func received(_ reply: AppReply, by app: AppID, on address: DeviceAddress) -> [ChildMachine.Input]
  /// The device launches an app in the background.
  ///
  /// - Returns: The app's requests until its end.
  func launch(_ app: AppID, on address: DeviceAddress) -> [ChildMachine.Input]
}

/// Observes a host, for checkers that judge a run by its history.
///
/// The methods are called on the host's thread.
public protocol AgentObserver: Sendable {
  /// The device starts with these records.
  func restored(_ records: [DeviceRecord], on address: DeviceAddress)
  /// A reply of the relay was decoded for the device.
  func received(_ reply: Reply, on address: DeviceAddress)
  /// A broadcast was opened and decoded for the device.
  func received(_ broadcast: Broadcast, on address: DeviceAddress)
  /// The changes became durable on the device.
  func madeDurable(_ changes: [RecordChange], on address: DeviceAddress)
}

extension AgentObserver {
  public func restored(_ records: [DeviceRecord], on address: DeviceAddress) {}
  public func received(_ broadcast: Broadcast, on address: DeviceAddress) {}
}
