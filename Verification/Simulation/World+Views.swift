import FamilyCore
import FamilyModel
import History
import RelayStore

/// The statements of devices, and the views of devices and relay: the ground truth of the checkers.
extension World {
  /// Records the owner and the key of each device.
  func recordOwners() {
    for device in devices {
      record(
        .belongs(
          device.address, device.plan.person.id, signingKey: device.vault.signingKey))
    }
  }

  /// Records the handles that a command in the device's outbox approves.
  func recordApproval(_ command: Command, on device: SimulatedDevice) {
    switch command {
    case .answer(let id, let choice):
      guard let state = device.link.conversations.values.compactMap({ $0.questions[id] }).first,
        let question = state.question
      else { return }
      recordApproval(question, choice, state.header, on: device)
    case .answerInPerson(let header, let content, let choice, _):
      guard case .question(let question) = FakeVault.reveal(content) else { return }
      recordApproval(question, choice, header, on: device)
    case .changeContact(let child, .contact(let handle, known: true)):
      record(.approves(device.address, child: child, [handle.canonical], in: nil))
    default: break
    }
  }

  private func recordApproval(
    _ question: Question, _ choice: String, _ header: QuestionHeader, on device: SimulatedDevice
  ) {
    guard question.choices.first(where: { $0.id == choice })?.answer == .approval else { return }
    let handles = question.topic.handles.map(\.canonical)
    for (part, app) in [
      (handles.filter(\.kind.isOfOneApp), header.app as AppID?),
      (handles.filter { !$0.kind.isOfOneApp }, nil),
    ] where !part.isEmpty {
      record(.approves(device.address, child: header.child, part, in: app))
    }
  }

  /// Records the device's roster if it has changed.
  func recordRoster(_ device: SimulatedDevice) {
    let devices = device.link.roster.devices
    guard devices != device.recordedRoster else { return }
    device.recordedRoster = devices
    device.rosterTime = now
    record(.holdsRoster(device.address, devices))
  }

  /// Records what the relay and the devices of its rosters hold at rest.
  func recordViews() {
    for family in relay.disk.families.keys.sorted() {
      let log = relay.disk.intactEvents(of: family).map { try! Event.decode($0.payload) }
      let truth = FamilyView(ofLog: log, channel: Self.channel)
      record(.relayViews(family, truth))
      for device in devices
      where device.address.family == family && truth.roster.device(device.plan.id) != nil {
        let restored = restoredLink(device)
        record(.views(device.address, view(of: device)))
        record(.holds(device.address, statements(of: restored)))
        checkRestart(of: device, restored)
        checkWebReports(of: device)
      }
    }
  }

  private static func channel(_ audience: Audience, _ generation: UInt32) -> UInt64 {
    audience.rawValue << 24 | UInt64(generation)
  }

  private func view(of device: SimulatedDevice) -> FamilyView {
    let link = device.link
    // The reply with the channels may be on its way after a connection or a change of the roster. A
    // device whose request was lost repeats it after a delay.
    let latest = max(device.rosterTime, device.connectionTime)
    let isSettled =
      device.isConnected && !link.awaitsAttachment && now > latest + .seconds(5)
    let topics = device.host?.devices[device.address]?.channelTopics ?? []
    let channels = (isSettled ? topics : []).compactMap(ChannelName.channel)
    let generations = channels.map { Self.channel($0.audience, $0.generation) }
    return FamilyView(of: link, generations: generations)
  }

  /// Checks that a restart at rest changes no view.
  private func checkRestart(of device: SimulatedDevice, _ restored: DeviceLink) {
    guard adversary == nil else { return }
    let before = FamilyView(of: device.link, generations: [])
    let records = device.disk.records()
    // The other way to restart: from the snapshot and the events after it.
    let machine = self.restored(device, records, IDSource(seed: 1))
    let early = machine.link
    func reports(_ link: DeviceLink) -> [[WebDay]] {
      before.children.map { link.webReport(of: $0.id) }
    }
    if machine.child?.activities != device.child?.activities {
      record(.breach("device \(device.plan.id.rawValue) has other activities after a restart"))
    }
    for link in [restored, early] {
      for (name, isOther) in [
        ("view", FamilyView(of: link, generations: []) != before),
        ("web report", reports(link) != reports(device.link)),
      ] where isOther {
        record(.breach("device \(device.plan.id.rawValue) has another \(name) after a restart"))
      }
    }
  }

  /// The statements that a restarted device verifies, by their authors.
  private func statements(of link: DeviceLink) -> [CommandName] {
    link.restored.compactMap { event in
      event.signature.map { CommandName($0.signer, event.command) }
    }
  }
}
