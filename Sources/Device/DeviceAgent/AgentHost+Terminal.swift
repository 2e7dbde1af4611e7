import Credentials
import DeviceTurn
package import FamilyCore
package import FamilyModel
import SystemClock
import ZeroMQ

/// The connection of a device to the relay, for its owner's screen.
package enum RelayState: Hashable, Sendable {
  /// The person is in no family, so the device uses no relay.
  case unused
  case connecting
  case connected
  /// No relay answers, or the relay refuses the connection.
  case unreachable
  /// Another relay answers than the one of the credential.
  case wrongRelay
}

/// A snapshot of a hosted device for its owner's screen.
package struct DeviceView: Sendable {
  /// The device's conversations, rosters and commands.
  package var link: DeviceLink
  /// The owner's name.
  package var name: String
  /// Whether the owner is a guardian.
  package var isGuardian: Bool
  /// The connection to the relay.
  package var relay: RelayState
  /// The notices that the owner has not dismissed.
  package var notifications: Notifications
}

extension AgentHost {
  /// The device's current state; `nil` before the host runs.
  package func view(of address: DeviceAddress) -> DeviceView? {
    host.devices[address].map { device in
      DeviceView(
        link: device.link, name: credential(of: address)?.name ?? "",
        isGuardian: device.guardian != nil,
        relay: device.isInFamily ? RelayState(device.connection) : .unused,
        notifications: device.notifications)
    }
  }

  /// Why the handle is known for the child, or is not: one explanation for each app of the device
  /// or, on a guardian's device, of the child's requests.
  package func explain(
    _ handle: Handle, of child: PersonID, in app: AppID?, on address: DeviceAddress
  ) -> [HandleExplanation] {
    guard let device = host.devices[address] else { return [] }
    let asked = device.link.conversations[child]?.inOrder.map(\.header.app) ?? []
    let installed = device.child == nil ? [] : Array(configuration.apps.keys)
    let apps = app.map { [$0] } ?? Set(asked + installed).sorted()
    return apps.map { app in
      device.child?.explain(handle, in: app, now: .now)
        ?? device.link.explain(handle, of: child, in: app, now: .now)
    }
  }

  /// The rules behind the age answers about a person: the owner of a child's or adult's device, or a
  /// child of a guardian. Empty for another person.
  package func ageExplanations(of person: PersonID, on address: DeviceAddress)
    -> [AgeExplanation]
  {
    guard let device = host.devices[address] else { return [] }
    if let child = device.child {
      return person == child.link.personID ? child.ageExplanations(now: .now) : []
    }
    let policy = AgePolicy(
      of: person, in: device.link, regions: configuration.regions,
      calendar: Account.Day.init(_:in:), now: .now)
    let age = device.link.age(of: person)
    return age.apps.flatMap { policy?.explanations(of: $0, age.memory($0)) ?? [] }
  }

  /// Calls `changed` on the host's thread, now and after every turn that may have changed a view.
  package func watch(_ changed: @escaping @Sendable () -> Void) {
    onChange = changed
    changed()
  }
}

extension RelayState {
  fileprivate init(_ state: ConnectionHealth.State) {
    self =
      switch state {
      case .connecting: .connecting
      case .connected: .connected
      case .serverUnreachable, .keyRefused(.clientKey): .unreachable
      case .keyRefused: .wrongRelay
      }
  }
}
