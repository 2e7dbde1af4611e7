package import FamilyCore
package import FamilyModel

/// A snapshot of a hosted device for its owner's screen.
package struct DeviceView: Sendable {
  /// The device's conversations, rosters and commands.
  package var link: DeviceLink
  /// The owner's name.
  package var name: String
  /// Whether the owner is a guardian.
  package var isGuardian: Bool
  /// Whether the device is connected to the relay.
  package var isConnected: Bool
}

extension AgentHost {
  /// The device's current state; `nil` before the host runs.
  package func view(of address: DeviceAddress) -> DeviceView? {
    devices[address].map { device in
      DeviceView(
        link: device.link, name: device.name, isGuardian: device.guardian != nil,
        isConnected: device.connection == .connected)
    }
  }

  /// Calls `changed` on the host's thread, now and after every turn that may have changed a view.
  package func watch(_ changed: @escaping @Sendable () -> Void) {
    onChange = changed
    changed()
  }
}
