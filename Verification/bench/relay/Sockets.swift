import ArgumentParser
import FamilyModel
import Foundation
import Processes
import RelayWire
import ZeroMQ

/// Measures thousands of hosts: their reconnection after the relay is killed, and the delay of others'
/// pings while hosts come and go.
struct Sockets: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Measure how long thousands of hosts take to recover from kill -9 of the relay, and how long"
      + " pings take while hosts come and go.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "Number of hosts, each with two connections, its own key and family.")
  var count = 5_000
  @Option(help: "Hosts that come and go, per second.") var leaving = 50
  @Option(help: "Seconds in which hosts come and go.") var seconds = 20

  /// The time between two pings of the measured host.
  private static let pingInterval = Nanoseconds.milliseconds(5)

  func validate() throws {
    guard count >= 2, leaving >= 1, seconds >= 1 else {
      throw ValidationError("--count is 2 or more; --leaving and --seconds are 1 or more.")
    }
  }

  /// The open files of a host in this process: its two sockets and their connections.
  private static let filesPerHost = 4
  /// The open files beside those of the hosts.
  private static let otherFiles = 100

  func run() async throws {
    let needed = count * Self.filesPerHost + Self.otherFiles
    let limit = ConnectionGuard.descriptors()
    guard needed <= limit else {
      throw ValidationError(
        "\(count) hosts need \(needed) open files, and the limit is \(limit). "
          + "Choose a smaller --count, or raise the limit.")
    }
    let run = try RunFolder("/tmp/pr-bench-\(getpid())")
    defer { run.remove() }
    let folder = run.url
    var relay = try MeasuredRelay(folder, isPlain: false)
    let context = try Context(ioThreads: 2, maximumSockets: Int32(2 * count) + 100)
    let hosts = UnsafeMutableBufferPointer<SocketsHost>.allocate(capacity: count)
    try connect(hosts, relay.address, context)
    let first = try serve(hosts, 1)
    print(String(format: "%d hosts served and subscribed after %.2f s", count, first))
    relay.process.kill()
    let killed = MonotonicInstant.now
    relay = try MeasuredRelay(folder, isPlain: false)
    let ready = (MonotonicInstant.now - killed).seconds
    let back = try serve(hosts, 2)
    print(
      String(
        format:
          "kill -9: relay ready after %.2f s, all %d hosts back %.2f s later; relay %.0f MB",
        ready, count, back, Double(relay.process.anonymousBytes) / 1e6))
    try comeAndGo(hosts, relay.address, context)
    relay.process.stop()
  }

  /// Creates a family for each host, and connects the hosts.
  private func connect(
    _ hosts: UnsafeMutableBufferPointer<SocketsHost>, _ address: RelayAddress, _ context: Context
  ) throws {
    let keys = try hosts.indices.map { _ in try CurveKeyPair.generate() }
    try FamilyProvisioner(at: address).provision(UInt64(count)) { family in
      var roster = address.roster
      roster.devices[1].publicKey = keys[Int(family) - 1].publicKey.bytes
      return roster
    }
    for index in hosts.indices {
      let host = try SocketsHost(UInt64(index) + 1, keys[index], address, in: context)
      hosts.initializeElement(at: index, to: host)
    }
  }

  /// Attaches every host until each has received a reply and a broadcast.
  ///
  /// - Returns: Seconds until the last one.
  private func serve(_ hosts: UnsafeMutableBufferPointer<SocketsHost>, _ id: UInt64) throws
    -> Double
  {
    let start = MonotonicInstant.now
    var served = 0
    var lastRequest = MonotonicInstant.machineStart
    for index in hosts.indices { hosts[index].restart() }
    while served < hosts.count {
      let now = MonotonicInstant.now
      guard now - start < .seconds(120) else { throw RelayUnavailable() }
      let isRequesting = now - lastRequest > .seconds(1)
      if isRequesting { lastRequest = now }
      for index in hosts.indices where !hosts[index].isServed {
        if isRequesting { try hosts[index].request(id, .attach([])) }
        try hosts[index].receive(id)
        if hosts[index].isServed { served += 1 }
      }
      usleep(2_000)
    }
    return (MonotonicInstant.now - start).seconds
  }

  /// Replaces the connections of all hosts but the first in turns, and measures the first one's pings.
  private func comeAndGo(
    _ hosts: UnsafeMutableBufferPointer<SocketsHost>, _ address: RelayAddress, _ context: Context
  ) throws {
    for rate in [0, leaving] {
      let start = MonotonicInstant.now
      var (next, left, id) = (1, 0, UInt64(100))
      var delays: [Double] = []
      var sent: MonotonicInstant?
      var pingsAt = start
      while case let now = MonotonicInstant.now, now - start < .seconds(seconds) {
        if Double(left) < (now - start).seconds * Double(rate) {
          try hosts[next].reconnect(address, in: context)
          (left, next) = (left + 1, next + 1 == count ? 1 : next + 1)
        }
        // The hosts that came subscribe.
        for index in max(1, next - 64)..<next { try hosts[index].receive(SocketsHost.comingID) }
        if let pinged = sent {
          try hosts[0].receive(id)
          if hosts[0].hasReply {
            delays.append((MonotonicInstant.now - pinged).seconds * 1_000)
            (sent, pingsAt) = (nil, now + Self.pingInterval)
          }
        } else if now >= pingsAt {
          id += 1
          hosts[0].restart()
          try hosts[0].request(id, .ping)
          sent = now
        }
        usleep(100)
      }
      guard !delays.isEmpty else { throw RelayUnavailable() }
      delays.sort()
      print(
        String(
          format: "%d hosts left and came: %d pings, p50 %.2f ms, p99 %.2f ms, max %.2f ms", left,
          delays.count, delays[delays.count / 2], delays[delays.count * 99 / 100],
          delays[delays.count - 1]))
    }
  }
}
