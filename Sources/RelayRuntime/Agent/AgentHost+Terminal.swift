import FamilyCore
import FamilyModel

/// A hosted device as it is at one moment, for its owner's screen.
struct DeviceView: Sendable {
  /// All that came over the connection.
  var link: DeviceLink
  /// The owner's name.
  var name: String
  /// Whether it is a guardian's.
  var isGuardian: Bool
  /// Whether the relay is there.
  var isConnected: Bool
}

extension AgentHost {
  /// The device as it is now; `nil` before the host runs.
  func view(of address: DeviceAddress) -> DeviceView? {
    devices[address].map { device in
      DeviceView(
        link: device.link, name: device.name, isGuardian: device.guardian != nil,
        isConnected: device.connection == .connected)
    }
  }

  /// Calls back, on the host's thread, whenever something may look different.
  func watch(_ changed: @escaping @Sendable () -> Void) {
    onChange = changed
    changed()
  }
}
