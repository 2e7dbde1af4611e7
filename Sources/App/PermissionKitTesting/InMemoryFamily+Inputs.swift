import DeviceTurn
import FamilyCore
import FamilyModel

/// The inputs of people, and the turns that follow from them.
extension InMemoryFamily {
  /// Applies an input to the child's device.
  func step(_ input: ChildMachine.Input) {
    devices[0].act(input)
    run(devices[0])
  }

  /// Applies an input to a guardian's device. A person without a family has no guardians.
  func act(_ number: UInt32, _ input: GuardianMachine.Input) {
    guard let device = device(number) else { return }
    device.act(input)
    run(device)
  }

  /// Connects the child's device to the network or disconnects it.
  func setOnline(_ isOnline: Bool) {
    devices[0].setOnline(isOnline)
    run(devices[0])
  }

  /// Sets the account, the limits and the guardians' answers of a sandbox case.
  func set(_ sandbox: SandboxCase) {
    var settings = child.age.settings
    settings.sandbox = sandbox.answers == nil ? nil : sandbox
    let isChild = people.isChild && people.isInFamily
    if settings != child.age.settings {
      if isChild {
        act(Self.organizerDevice, .setAge(Self.childID, settings))
      } else {
        step(.setAge(settings))
      }
    }
    if sandbox.answers != nil {
      if isChild { act(Self.organizerDevice, .setLimits(child: Self.childID, on: true)) }
      return
    }
    let account = sandbox.account(Account.Day(utc: now))
    guard people.isInFamily else { return step(.setOwnAccount(account)) }
    if isChild {
      act(Self.organizerDevice, .setAccount(Self.childID, account))
      act(Self.organizerDevice, .setLimits(child: Self.childID, on: sandbox.limitsOn))
    } else {
      step(.setOwnAccount(account))
    }
    for device in guardians.keys.sorted() {
      let answer: TestGuardian.Answer = sandbox.consent == .approved ? .approve : .decline
      plans[device] = .guardian(answer, delay: .zero)
    }
    let isWithdrawn = child.consents.isWithdrawn(app)
    guard isWithdrawn != (sandbox.consent == .revoked) else { return }
    act(
      Self.organizerDevice,
      .withdraw(child: Self.childID, isWithdrawn ? .consentGiven(app) : .consent(app)))
  }

  // MARK: turns

  /// Advances the clock to `end`, with all timers and planned answers on the way.
  ///
  /// Stops early at a launch or an end of the app, because `TestFamily` carries those out.
  func advance(to end: Instant) {
    while now < end, pendingLaunches == 0, !isTerminated {
      let due = ([relay?.due] + devices.map(\.due) + plannedAnswers.map(\.at))
        .compactMap { $0 }.min()
      // The clock moves, so that an overdue deadline cannot stop time.
      now = max(now + .milliseconds(1), min(end, due ?? end))
      for device in devices { turn(device) }
      exchange()
      giveDueAnswers()
    }
  }

  /// Runs the device, and everything that its messages cause.
  func run(_ device: InMemoryDevice) {
    turn(device)
    exchange()
  }

  /// Runs the relay and the devices until no message is left.
  func exchange() {
    guard let relay else { return }
    while case let messages = relay.turn(), !messages.isEmpty {
      for (number, message) in messages {
        // The administrator, who founds the family, waits for no reply.
        guard let device = device(number) else { continue }
        device.receive(message)
        turn(device)
      }
    }
  }

  private func turn(_ device: InMemoryDevice) {
    device.turn { carryOut($0, of: device) }
  }

  /// The device with this number.
  private func device(_ number: UInt32) -> InMemoryDevice? {
    devices.first { $0.number == number }
  }
}
