import FamilyCore
import FamilyModel
import RelayWire

extension DeviceHost {
  /// Sends a request of the device, unless it must wait: the machine's timer retries.
  func send(_ id: UInt64, _ request: Request, of address: DeviceAddress) {
    guard let device = devices[address], device.isOnline, device.isInFamily else { return }
    if case .command(let command, _, _) = request,
      !(connections[device.key]?.questionWindow.maySend(command, now: clock.moment) ?? false)
    {
      return
    }
    if case .attach(let cursors) = request,
      !attachQueue.mayAttach(address, from: cursors, now: clock.now)
    {
      return
    }
    var envelope = Envelope(device: address, requestID: id, request: request)
    if case .attach = request { envelope.pass = device.pass }
    waiting.effects.append(.send(envelope, key: device.key))
  }

  /// Makes the device a reader of exactly these channels, and subscribes its connection.
  ///
  /// - Parameter resubscribes: Whether to repeat the subscription, because broadcasts were lost.
  func listen(_ channels: [Channel], resubscribes: Bool, of address: DeviceAddress) {
    guard let device = devices[address], connections[device.key] != nil else { return }
    var wanted = channels.compactMap(HostedDevice.SubscribedChannel.init)
    for index in wanted.indices {
      // The device shares the topic's memory with the connection, which knows the topic already.
      let known = device.channels.first { $0.topic == wanted[index].topic }
      if let known { wanted[index].topic = known.topic }
    }
    for old in device.channels where !wanted.contains(where: { $0.topic == old.topic }) {
      connections[device.key]!.remove(address, from: old.topic)
    }
    for new in wanted where !device.channels.contains(where: { $0.topic == new.topic }) {
      connections[device.key]!.add(address, to: new.topic)
    }
    device.channels = wanted
    let change = connections[device.key]!.subscription.change(
      repeats: resubscribes, now: clock.moment)
    guard let change else { return }
    if let old = change.unsubscribe {
      waiting.effects.append(.unsubscribe(old, key: device.key))
    }
    waiting.effects.append(.subscribe(change.subscribe, key: device.key))
  }
}
