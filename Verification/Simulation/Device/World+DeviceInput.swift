import DeviceTurn
import FamilyCore
import FamilyModel
import History
import RelayWire
import ZeroMQ

/// The inputs of a device: from people, from the relay, and timers.
extension World {
  func child(_ index: Int, _ input: ChildMachine.Input) {
    let device = devices[index]
    guard device.isRunning else { return }
    device.host?.act(input, on: device.address)
    turn(index)
  }

  func guardian(_ index: Int, _ input: GuardianMachine.Input) {
    let device = devices[index]
    guard device.isRunning else { return }
    device.host?.act(input, on: device.address)
    turn(index)
  }

  func connectionChanged(_ isConnected: Bool, of index: Int) {
    let device = devices[index]
    guard device.isRunning else { return }
    device.host?.connectionChanged(isConnected ? .connected : .connecting, of: device.key)
    turn(index)
  }

  func receive(_ index: Int, _ connection: Int, _ envelope: ReplyEnvelope) {
    let device = devices[index]
    guard !memberReceives(index, envelope.requestID, envelope.reply) else { return }
    guard device.connection == connection, device.isRunning else { return }
    // A dishonest relay may name another device.
    if envelope.device == device.address { recordReply(envelope.reply, to: device, index) }
    device.host?.messageArrived(key: device.key)
    device.host?.received(envelope, key: device.key)
    turn(index)
  }

  private func recordReply(_ reply: Reply, to device: SimulatedDevice, _ index: Int) {
    probe(reply)
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
  }

  func receive(_ index: Int, _ connection: Int, _ topic: [UInt8], _ broadcast: Broadcast) {
    let device = devices[index]
    guard device.connection == connection, device.isRunning else { return }
    guard !device.topics.isEmpty || !device.foreignTopics.isEmpty else { return }
    if case .event(let event) = broadcast {
      let family = ChannelName.channel(of: topic)?.family ?? FamilyID(0)
      // In a foreign family the device counts as an unknown device.
      let address =
        family == device.address.family
        ? device.address : DeviceAddress(family: family, device: DeviceID(1_000 + UInt32(index)))
      record(.received(address, event.audience, seq: event.seq))
      recordOwn(event, on: address)
    }
    // The host drops broadcasts of channels that none of its devices reads.
    device.host?.received(broadcast, topic: topic, key: device.key)
    turn(index)
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
    turn(index)
  }

  func scheduleDeviceTimer(_ index: Int) {
    let device = devices[index]
    guard device.isRunning, let deadline = device.host?.deadline else { return }
    let wait = Milliseconds.milliseconds((deadline - monotonic(device)).milliseconds)
    let at = now + max(.milliseconds(1), wait)
    guard device.timerAt.map({ at < $0 }) ?? true else { return }
    device.timerAt = at
    queue.schedule(.deviceTimer(index), at: at)
  }
}
