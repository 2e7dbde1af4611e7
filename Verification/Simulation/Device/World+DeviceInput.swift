import FamilyCore
import FamilyModel
import History
import RelayWire

/// The inputs of a device: from people, from the relay, and timers.
extension World {
  func child(_ index: Int, _ input: ChildMachine.Input) {
    let device = devices[index]
    guard device.isRunning, device.child != nil else { return }
    perform(device.child!.step(input, now: clock(device.clock), uptime: uptime), device)
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
    case .connected: step(index, .connected, .connected)
    case .disconnected: step(index, .disconnected, .disconnected)
    case .reply(let id, let reply): step(index, .reply(id, reply), .reply(id, reply))
    case .broadcast(let broadcast): step(index, .broadcast(broadcast), .broadcast(broadcast))
    case .clockSetBack: step(index, .clockSetBack, .clockSetBack)
    case .timer: step(index, .timer, .timer)
    }
  }

  private func step(_ index: Int, _ input: ChildMachine.Input, _ other: GuardianMachine.Input) {
    if devices[index].child != nil { child(index, input) } else { guardian(index, other) }
  }

  func receive(_ index: Int, _ connection: Int, _ id: UInt64, _ reply: Reply) {
    let device = devices[index]
    guard !memberReceives(index, id, reply) else { return }
    guard device.connection == connection, device.isRunning else { return }
    switch reply {
    case .accepted(let command, let seq):
      record(.acknowledged(device.address, command, seq: seq))
    case .refused(let command, let problem) where problem.code < Problem.overloaded.code:
      record(.refused(device.address, command, problem))
    case .refused(_, let problem), .failed(let problem): recordShedding(index, problem)
    case .page(let audience, let events, _):
      for event in events {
        record(.received(device.address, audience, seq: event.seq))
        recordOwn(event, on: device.address)
      }
    default: break
    }
    deviceInput(index, .reply(id, reply))
  }

  func receive(_ index: Int, _ connection: Int, _ topic: [UInt8], _ broadcast: Broadcast) {
    let device = devices[index]
    guard device.connection == connection, device.isRunning else { return }
    let isOwn = device.topics.contains(topic)
    guard isOwn || device.foreignTopics.contains(topic) else { return }
    if case .event(let event) = broadcast {
      let family = ChannelName.channel(of: topic)?.family ?? FamilyID(0)
      // In a foreign family the device counts as an unknown device.
      let address =
        family == device.address.family
        ? device.address : DeviceAddress(family: family, device: DeviceID(1_000 + UInt32(index)))
      record(.received(address, event.audience, seq: event.seq))
      recordOwn(event, on: address)
    }
    if isOwn { deviceInput(index, .broadcast(broadcast)) }
  }

  /// Records that a device's own event acknowledges its command.
  private func recordOwn(_ event: Event, on address: DeviceAddress) {
    guard event.device == address.device else { return }
    record(.acknowledged(address, event.command, seq: event.seq))
  }

  func deviceTimer(_ index: Int) {
    let device = devices[index]
    // An earlier timer may have replaced this one.
    guard let at = device.timerAt, at <= now else { return }
    device.timerAt = nil
    guard device.isRunning else { return }
    if let deadline = device.deadline, deadline <= clock(device.clock) {
      deviceInput(index, .timer)
    } else {
      scheduleDeviceTimer(index)
    }
  }

  func scheduleDeviceTimer(_ index: Int) {
    let device = devices[index]
    guard device.isRunning, let deadline = device.deadline else { return }
    let at = moment(deadline, device.clock)
    guard deadline.milliseconds != .max, device.timerAt.map({ at < $0 }) ?? true else { return }
    device.timerAt = at
    queue.schedule(.deviceTimer(index), at: at)
  }
}
