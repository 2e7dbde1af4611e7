public import FamilyCore
public import FamilyModel

/// Apps that live in the host's own process, in the place of programs that reach it over a socket: for a
/// process that stands for many thousands of children's devices.
///
/// It is called on the host's thread. What it returns is done at once.
public protocol LocalApps: Sendable {
  /// The device tells an app something; the app's requests in return.
  func take(_ reply: AppReply, _ app: AppID, on address: DeviceAddress) -> [ChildMachine.Input]
  /// The device launches an app in the background (R6); the app's requests, up to its end.
  func launch(_ app: AppID, on address: DeviceAddress) -> [ChildMachine.Input]
}

/// Sees what passes a host: for runs that are judged by what happened in them.
///
/// It is called on the host's thread.
public protocol AgentObserver: Sendable {
  /// The device starts from these records.
  func restored(_ records: [DeviceRecord], on address: DeviceAddress)
  /// The relay answered, and the device can read it.
  func received(_ reply: Reply, on address: DeviceAddress)
  /// A broadcast reached the device, and it can open it.
  func received(_ broadcast: Broadcast, on address: DeviceAddress)
  /// The changes are durable on the device.
  func madeDurable(_ changes: [RecordChange], on address: DeviceAddress)
}

extension AgentObserver {
  public func restored(_ records: [DeviceRecord], on address: DeviceAddress) {}
  public func received(_ broadcast: Broadcast, on address: DeviceAddress) {}
}
