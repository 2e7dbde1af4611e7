import FamilyCore
import FamilyModel
import History
import RelayWire

/// What comes to a device: from people, from the relay, and with time.
extension World {
  func child(_ index: Int, _ input: ChildMachine.Input) {
    let device = devices[index]
    guard device.isRunning, device.child != nil else { return }
    perform(device.child!.step(input, now: clock(device.clock)), device)
    turn(index)
  }

  func guardian(_ index: Int, _ input: GuardianMachine.Input) {
    let device = devices[index]
    guard device.isRunning, device.guardian != nil else { return }
    perform(device.guardian!.step(input, now: clock(device.clock)), device)
    turn(index)
  }

  enum LinkInput {
    case connected
    case disconnected
    case reply(UInt64, Reply)
    case broadcast(Broadcast)
    case clockSetBack
    case timer
  }

  func deviceInput(_ index: Int, _ input: LinkInput) {
    switch input {
    case .connected: both(index, .connected, .connected)
    case .disconnected: both(index, .disconnected, .disconnected)
    case .reply(let id, let reply): both(index, .reply(id, reply), .reply(id, reply))
    case .broadcast(let broadcast): both(index, .broadcast(broadcast), .broadcast(broadcast))
    case .clockSetBack: both(index, .clockSetBack, .clockSetBack)
    case .timer: both(index, .timer, .timer)
    }
  }

  private func both(_ index: Int, _ input: ChildMachine.Input, _ other: GuardianMachine.Input) {
    if devices[index].child != nil { child(index, input) } else { guardian(index, other) }
  }

  func receive(_ index: Int, _ connection: Int, _ id: UInt64, _ reply: Reply) {
    let device = devices[index]
    guard device.connection == connection, device.isRunning else { return }
    switch reply {
    case .accepted(let command, let seq):
      note(.acknowledged(device.address, command, seq: seq))
    case .refused(let command, let problem) where problem.code < Problem.overloaded.code:
      note(.refused(device.address, command, problem))
    case .page(let audience, let events, _):
      for event in events {
        note(.received(device.address, audience, seq: event.seq))
        noteOwn(event, on: device.address)
      }
    default: break
    }
    deviceInput(index, .reply(id, reply))
  }

  func receive(_ index: Int, _ connection: Int, _ topic: [UInt8], _ broadcast: Broadcast) {
    let device = devices[index]
    guard device.connection == connection, device.isRunning else { return }
    let isIts = device.topics.contains(topic)
    guard isIts || device.pried.contains(topic) else { return }
    if case .event(let event) = broadcast {
      let family = ChannelName.meaning(of: topic).0
      // In another family nobody knows this device.
      let address =
        family == device.address.family
        ? device.address : DeviceAddress(family: family, device: DeviceID(1_000 + UInt32(index)))
      note(.received(address, event.audience, seq: event.seq))
      noteOwn(event, on: address)
    }
    if isIts { deviceInput(index, .broadcast(broadcast)) }
  }

  /// A device's own event is the relay's answer to its command.
  private func noteOwn(_ event: Event, on address: DeviceAddress) {
    guard event.device == address.device else { return }
    note(.acknowledged(address, event.command, seq: event.seq))
  }

  func deviceTimer(_ index: Int) {
    let device = devices[index]
    device.timerAt = nil
    guard device.isRunning else { return }
    if let deadline = device.deadline, deadline <= clock(device.clock) {
      deviceInput(index, .timer)
    } else {
      planDeviceTimer(index)
    }
  }

  func planDeviceTimer(_ index: Int) {
    let device = devices[index]
    guard device.isRunning, let deadline = device.deadline else { return }
    let at = moment(deadline, device.clock)
    guard deadline.milliseconds != .max, device.timerAt.map({ at < $0 }) ?? true else { return }
    device.timerAt = at
    agenda.plan(.deviceTimer(index), at: at)
  }
}
