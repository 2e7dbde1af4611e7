import FamilyModel
import Foundation
import RelayWire
import ZeroMQ

/// The connections of a herd. Each carries its share of the devices, as a host of devices does.
final class HerdConnections {
  /// The figures of one return of the herd.
  struct Result {
    var seconds = 0.0
    var refused = 0
    var failedHandshakes = 0
    /// The seconds of each ping of a family that attached first.
    var pings: [Double] = []
  }

  private static let timeout = Nanoseconds.seconds(600)
  /// When a request without a reply is sent again.
  private static let retry = Nanoseconds.seconds(10)
  private static let pingInterval = Nanoseconds.milliseconds(20)
  /// The number of a ping's request; attachments have the number of their family.
  private static let ping = UInt64.max

  private struct Connection: ~Copyable {
    let socket: Socket
    var monitor: Monitor
    var waiting: [UInt64] = []
    /// The devices to attach later, with their times.
    var returns: [(family: UInt64, at: MonotonicInstant)] = []
    var inFlight: [UInt64: MonotonicInstant] = [:]
  }

  private let context: Context
  private let connections: UnsafeMutableBufferPointer<Connection>
  private let devices: Int
  private let window: Int
  private var result = Result()
  private var attached: Set<UInt64> = []
  private var passes: [UInt64: [UInt8]] = [:]
  private var pinged: (family: UInt64, connection: Int)?
  private var pingSent: MonotonicInstant?
  private var lastPing = MonotonicInstant.machineStart

  init(_ keys: [CurveKeyPair], _ address: RelayAddress, devices: Int, window: Int) throws {
    let context = try Context(ioThreads: 2, maximumSockets: Int32(3 * keys.count) + 100)
    (self.context, self.devices) = (context, devices)
    self.window = window == 0 ? .max : window
    connections = .allocate(capacity: keys.count)
    for (index, pair) in keys.enumerated() {
      var options = SocketOptions()
      options.security = .client(pair, server: address.relayKey!)
      options.sendHighWaterMark = 0
      options.receiveHighWaterMark = 0
      options.spreadReconnects()
      let socket = try Socket(.dealer, in: context, options: options)
      let monitor = try Monitor(socket, in: context)
      try socket.connect(address.requests)
      connections.initializeElement(at: index, to: Connection(socket: socket, monitor: monitor))
    }
  }

  deinit {
    connections.deinitialize()
    connections.deallocate()
  }

  /// Attaches every device. Returns when the last one is attached.
  func attachAll() throws -> Result {
    let start = MonotonicInstant.now
    (result, attached, pinged, pingSent) = (Result(), [], nil, nil)
    for index in connections.indices {
      (connections[index].returns, connections[index].inFlight) = ([], [:])
      connections[index].waiting = stride(
        from: index == 0 ? connections.count : index, through: devices, by: connections.count
      ).map { UInt64($0) }
    }
    while attached.count < devices {
      let now = MonotonicInstant.now
      guard now - start < Self.timeout else { throw RelayUnavailable() }
      for index in connections.indices {
        try drain(index)
        try send(index, now: now)
      }
      try ping(now: now)
      usleep(1_000)
    }
    result.seconds = (MonotonicInstant.now - start).seconds
    return result
  }

  private func drain(_ index: Int) throws {
    var failed = 0
    _ = try connections[index].monitor.drain { event in
      if case .handshakeFailed = event.kind { failed += 1 }
    }
    result.failedHandshakes += failed
    while let message = try connections[index].socket.receive() {
      let reply = try message.withBytes(1) { bytes throws(Problem) in
        try ReplyEnvelope.decode(bytes)
      }
      receive(reply, index)
    }
  }

  private func receive(_ reply: ReplyEnvelope, _ index: Int) {
    let now = MonotonicInstant.now
    let family = reply.device.family.rawValue
    if reply.requestID == Self.ping {
      if let pingSent { result.pings.append((now - pingSent).seconds) }
      return pingSent = nil
    }
    connections[index].inFlight[family] = nil
    switch reply.reply {
    case .attached:
      attached.insert(family)
      passes[family] = reply.pass
      if pinged == nil { pinged = (family, index) }
    case .failed(let problem) where problem.retryAfter > .zero:
      result.refused += 1
      connections[index].returns.append(
        (family, now + .milliseconds(problem.retryAfter.count)))
    default: connections[index].returns.append((family, now + .seconds(1)))
    }
  }

  private func send(_ index: Int, now: MonotonicInstant) throws {
    if !connections[index].returns.isEmpty {
      let due = connections[index].returns.filter { $0.at <= now }
      connections[index].returns.removeAll { $0.at <= now }
      connections[index].waiting += due.map(\.family)
    }
    // A request may have been sent to the relay that ended.
    let lost = connections[index].inFlight.filter { now - $0.value > Self.retry }.map(\.key)
    for family in lost {
      connections[index].inFlight[family] = nil
      connections[index].waiting.append(family)
    }
    while connections[index].inFlight.count < window,
      let family = connections[index].waiting.popLast()
    {
      guard !attached.contains(family) else { continue }
      try send(.attach([]), family, id: family, index)
      connections[index].inFlight[family] = now
    }
  }

  private func ping(now: MonotonicInstant) throws {
    guard let pinged, pingSent == nil, now - lastPing > Self.pingInterval else { return }
    (lastPing, pingSent) = (now, now)
    try send(.ping, pinged.family, id: Self.ping, pinged.connection)
  }

  private func send(_ request: Request, _ family: UInt64, id: UInt64, _ index: Int) throws {
    var envelope = Envelope(
      device: DeviceAddress(family: FamilyID(family), device: RelayAddress.childDevice),
      requestID: id, request: request)
    envelope.pass = passes[family] ?? []
    guard try connections[index].socket.sendPart([], more: true) == .sent else { return }
    _ = try connections[index].socket.sendPart(envelope.encode(), more: false)
  }
}
