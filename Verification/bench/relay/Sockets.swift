import ArgumentParser
import FamilyModel
import Foundation
import Processes
import RelayWire
import ZeroMQ

/// Measures thousands of connections and their reconnection after the relay is killed.
struct Sockets: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Measure how long thousands of connections take to recover from kill -9 of the relay.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "Number of connections, each with its own key and family.") var count = 5_000

  /// One device's connection.
  private struct Connection: ~Copyable {
    let socket: Socket
    let family: UInt64
    var isServed = false

    func ping(_ id: UInt64) throws {
      let envelope = Envelope(
        device: DeviceAddress(family: FamilyID(family), device: RelayAddress.childDevice),
        requestID: id, request: .ping)
      guard try socket.sendPart([], more: true) == .sent else { return }
      _ = try socket.sendPart(envelope.encode(), more: false)
    }
  }

  func validate() throws {
    guard count >= 1 else { throw ValidationError("--count is 1 or more.") }
  }

  func run() async throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let run = try RunFolder("/tmp/pr-bench-\(getpid())")
    defer { run.remove() }
    let folder = run.url
    var relay = try MeasuredRelay(folder, isPlain: false)
    let address = relay.address
    let context = try Context(ioThreads: 2, maximumSockets: Int32(count) + 100)
    let connections = UnsafeMutableBufferPointer<Connection>.allocate(capacity: count)
    var provisioner = try Devices(DeviceID(0), address.administrator, at: address)
    for index in 0..<count {
      let keys = try CurveKeyPair.generate()
      var roster = address.roster
      roster.devices[1].publicKey = keys.publicKey.bytes
      let family = UInt64(index) + 1
      try provisioner.send(.command(provisioner.newID(), .setRoster(roster), nil), in: family)
      var options = SocketOptions()
      options.security = .client(keys, server: address.relayKey!)
      let socket = try Socket(.dealer, in: context, options: options)
      try socket.connect(address.requests)
      connections.initializeElement(at: index, to: Connection(socket: socket, family: family))
    }
    var provisioned = 0
    while provisioned < count {
      guard try provisioner.requests.waitUntilReadable(within: Devices.timeout) else {
        throw RelayUnavailable()
      }
      while try provisioner.nextReply() != nil { provisioned += 1 }
    }
    let first = try serve(connections, 1)
    print(String(format: "%d connections served after %.2f s", count, first))
    relay.process.kill()
    let killed = MonotonicInstant.now
    relay = try MeasuredRelay(folder, isPlain: false)
    let ready = (MonotonicInstant.now - killed).seconds
    let back = try serve(connections, 2)
    print(
      String(
        format:
          "kill -9: relay ready after %.2f s, all %d connections served %.2f s later; relay %.0f MB",
        ready, count, back, Double(relay.process.anonymousBytes) / 1e6))
    relay.process.stop()
  }

  /// Pings on every connection until each has received a reply.
  ///
  /// - Returns: Seconds until the last reply.
  private func serve(_ connections: UnsafeMutableBufferPointer<Connection>, _ id: UInt64) throws
    -> Double
  {
    let start = MonotonicInstant.now
    var served = 0
    var lastPing = MonotonicInstant.machineStart
    for index in connections.indices { connections[index].isServed = false }
    while served < connections.count {
      let now = MonotonicInstant.now
      guard now - start < .seconds(120) else { throw RelayUnavailable() }
      let isPinging = now - lastPing > .seconds(1)
      if isPinging { lastPing = now }
      for index in connections.indices where !connections[index].isServed {
        if isPinging { try connections[index].ping(id) }
        while let message = try connections[index].socket.receive() {
          let reply = try message.withBytes(1) { bytes throws(Problem) in
            try ReplyEnvelope.decode(bytes)
          }
          guard reply.requestID == id, !connections[index].isServed else { continue }
          connections[index].isServed = true
          served += 1
        }
      }
      usleep(2_000)
    }
    return (MonotonicInstant.now - start).seconds
  }
}
