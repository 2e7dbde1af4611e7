import FamilyCore
import FamilyHarness
import FamilyModel

/// The invariants of a family with one dishonest member, at rest.
extension Household {
  /// Lets all devices read everything, and checks the invariants.
  mutating func checkAtRest() {
    let devices = (Array(machines.guardians.keys) + Array(machines.children.keys)).sorted()
    // A reconnect of the other devices would hide a command that waits for one.
    for device in machines.away.sorted() { connect(device) }
    wait(.seconds(40))
    checkAgreement(devices)
    checkHandles()
    for device in devices where isEnrolled(device) { checkOutbox(device) }
    for device in devices where isEnrolled(device) { checkRestart(device) }
    guard isEnrolled(10), machines.guardians[10] != nil else { return }
    let isOn = relayRoster.role(of: Self.child) == .child
    guard isOn, let limits = machines.guardians[10]?.link.limitsOn(for: Self.child) else { return }
    guardian(10, .setLimits(child: Self.child, on: !limits))
    wait(.seconds(5))
    precondition(
      machines.guardians[10]?.link.pendingCommands.isEmpty ?? true, "a guardian's command waits")
    precondition(
      machines.guardians[10]?.link.limitsOn(for: Self.child) == !limits,
      "a guardian's command had no effect")
    checkAgreement(devices)
  }

  private var relayRoster: Roster { machines.relay.state(of: Self.family)?.roster ?? Roster() }

  /// Whether the device and its owner are in the family as they were at first.
  private func isEnrolled(_ device: UInt32) -> Bool {
    guard let entry = founded.device(DeviceID(device)) else { return false }
    return relayRoster.device(entry.id) == entry
      && relayRoster.role(of: entry.person) == founded.role(of: entry.person)
  }

  private func link(_ device: UInt32) -> DeviceLink? {
    machines.guardians[device]?.link ?? machines.children[device]?.link
  }

  /// All devices have the relay's roster, and those of a conversation have one conversation.
  private func checkAgreement(_ devices: [UInt32]) {
    precondition(relayRoster.isSigned, "the family lost its keys")
    var first: Conversation?
    for device in devices where isEnrolled(device) {
      guard let link = link(device) else { continue }
      precondition(link.roster == relayRoster, "device \(device) has another roster")
      guard let conversation = link.conversations[Self.child], device != 50,
        relayRoster.role(of: Self.child) == .child
      else { continue }
      guard let known = first else {
        first = conversation
        continue
      }
      precondition(known.lines == conversation.lines, "device \(device) reads other messages")
      precondition(
        known.questions.all.mapValues(\.phase) == conversation.questions.all.mapValues(\.phase),
        "device \(device) knows other questions")
      precondition(known.limitsOn == conversation.limitsOn, "device \(device) has other limits")
      precondition(
        known.known.all(in: Self.app) == conversation.known.all(in: Self.app),
        "device \(device) knows other handles")
    }
  }

  /// No app knows a handle that no guardian approved.
  private func checkHandles() {
    guard !isMemberGuardian, !knowsPasscode else { return }
    for (device, app) in apps {
      for handle in app.known.sorted() {
        precondition(
          approved.contains(handle), "the app on device \(device) knows \(handle.value)")
      }
    }
  }

  /// No command waits for a reconnect or a restart.
  private func checkOutbox(_ device: UInt32) {
    guard let pending = link(device)?.pendingCommands else { return }
    precondition(pending.isEmpty, "device \(device) does not send \(pending)")
  }

  /// A device that starts from its records has the state of the running one.
  private mutating func checkRestart(_ device: UInt32) {
    let before = link(device)
    restart(device)
    wait(.seconds(2))
    let after = link(device)
    precondition(before?.roster == after?.roster, "device \(device) forgot the roster")
    precondition(
      before?.conversations[Self.child]?.lines == after?.conversations[Self.child]?.lines,
      "device \(device) forgot messages")
  }
}
