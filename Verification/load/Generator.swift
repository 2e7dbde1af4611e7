import DeviceAgent
import FamilyModel
import Foundation
import ZeroMQ

/// Begins each arrival of a worker's families at its time. It waits for nobody (an open loop): what begins
/// late is measured from the time of the plan all the same.
struct Generator: Sendable {
  /// Arrivals that are handed over together when the generator itself is late.
  private static let batch = 256
  /// Nanoseconds that a device is off the network: from one second to three.
  private static let away: ClosedRange<UInt64> = 1_000_000_000...3_000_000_000

  private let run: Run
  private let hosting: Hosting
  private let hosts: [(host: AgentHost, crowd: SimulatedUsers)]

  init(_ run: Run, _ hosting: Hosting, _ hosts: [(AgentHost, SimulatedUsers)]) {
    self.run = run
    self.hosting = hosting
    self.hosts = hosts.map { (host: $0.0, crowd: $0.1) }
  }

  /// Returns when the last arrival has been handed to its host: how many there were.
  func run() async -> Int {
    await withCheckedContinuation { continuation in
      // A thread of its own: it sleeps to the nanosecond, and nothing of the pool may delay it.
      Thread.detachNewThread { continuation.resume(returning: generate()) }
    }
  }

  private func generate() -> Int {
    var total = 0
    var plan = LoadPlan(
      seed: run.seed, rate: run.rate, seconds: run.seconds, families: run.families, mix: run.mix,
      first: run.first)
    var waiting: [Int: [Arrival]] = [:]
    var count = 0
    while let arrival = plan.next() {
      guard hosting.families.contains(arrival.family) else { continue }
      let now = Monotonic.now()
      if run.start + arrival.at > now || count >= Self.batch {
        hand(&waiting)
        count = 0
        sleep(until: run.start + arrival.at)
      }
      let host = Int((arrival.family - hosting.families.lowerBound) / hosting.perHost)
      waiting[host, default: []].append(arrival)
      count += 1
      total += 1
    }
    hand(&waiting)
    sleep(until: run.start + UInt64(run.seconds * 1e9))
    return total
  }

  private func sleep(until moment: UInt64) {
    var time = timespec(tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }

  private func hand(_ waiting: inout [Int: [Arrival]]) {
    for (index, arrivals) in waiting {
      let (host, crowd) = hosts[index]
      Task { await host.begin(arrivals, crowd, start: run.start) }
      for arrival in arrivals where arrival.kind == .off { away(arrival, host, crowd) }
    }
    waiting.removeAll(keepingCapacity: true)
  }

  /// Takes the guardians' devices off the network, or the child's, and back.
  private func away(_ arrival: Arrival, _ host: AgentHost, _ crowd: SimulatedUsers) {
    let family = FamilyID(arrival.family)
    let all = hosting.households.devices.map { DeviceAddress(family: family, device: $0) }
    let isChild = arrival.random & 1 == 0
    let devices = all.filter { ($0.device == FamilyFactory.child) == isChild }
    let time = Self.away.lowerBound + arrival.random % (Self.away.upperBound - Self.away.lowerBound)
    Task {
      await host.setOnline(false, devices, crowd, family)
      try? await Task.sleep(for: .nanoseconds(time))
      await host.setOnline(true, all, crowd, family)
    }
  }
}

extension AgentHost {
  /// The apps of these children ask now.
  func begin(_ arrivals: [Arrival], _ crowd: SimulatedUsers, start: UInt64) {
    for arrival in arrivals {
      let child = DeviceAddress(family: FamilyID(arrival.family), device: FamilyFactory.child)
      for input in crowd.begin(arrival, scheduled: start + arrival.at) { act(input, on: child) }
    }
  }

  /// Takes devices off the network, or puts the family's back when nothing else keeps them off.
  func setOnline(
    _ isOnline: Bool, _ devices: [DeviceAddress], _ crowd: SimulatedUsers, _ family: FamilyID
  ) {
    if isOnline {
      guard crowd.letGo(family) else { return }
    } else {
      crowd.holdUp(family)
    }
    for device in devices { setOnline(isOnline, device) }
  }
}
