package import FamilyCore
package import FamilyModel

/// A hosted device as it is at one moment, for its owner's screen.
package struct DeviceView: Sendable {
  /// All that came over the connection.
  package var link: DeviceLink
  /// The owner's name.
  package var name: String
  /// Whether it is a guardian's.
  package var isGuardian: Bool
  /// Whether the relay is there.
  package var isConnected: Bool
}

extension AgentHost {
  /// The device as it is now; `nil` before the host runs.
  package func view(of address: DeviceAddress) -> DeviceView? {
    devices[address].map { device in
      DeviceView(
        link: device.link, name: device.name, isGuardian: device.guardian != nil,
        isConnected: device.connection == .connected)
    }
  }

  /// Calls back, on the host's thread, whenever something may look different.
  package func watch(_ changed: @escaping @Sendable () -> Void) {
    onChange = changed
    changed()
  }
}
