import DeviceAgent
import FamilyModel
import Foundation
import LoadFamilies
import ZeroMQ

/// Begins each arrival of a worker's families at its planned time.
///
/// The loop is open: delays do not move later arrivals, and a late question is measured from its
/// planned time.
struct LoadGenerator: Sendable {
  /// The maximum number of arrivals dispatched together when the generator is late.
  private static let batch = 256
  /// The duration for which a device is offline.
  private static let offlineTime = Nanoseconds.seconds(1)...Nanoseconds.seconds(3)

  private let run: RunOrder
  private let hosting: HostingOrder
  private let hosts: [(host: AgentHost, users: SimulatedUsers)]

  init(_ run: RunOrder, _ hosting: HostingOrder, _ hosts: [(AgentHost, SimulatedUsers)]) {
    self.run = run
    self.hosting = hosting
    self.hosts = hosts.map { (host: $0.0, users: $0.1) }
  }

  /// Dispatches all arrivals to their hosts.
  ///
  /// - Returns: The number of arrivals.
  func run() async -> Int {
    await withCheckedContinuation { continuation in
      // A separate thread sleeps precisely and is not delayed by the cooperative pool.
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
      let now = MonotonicInstant.now
      if run.start + arrival.at > now || count >= Self.batch {
        dispatch(&waiting)
        count = 0
        sleep(until: run.start + arrival.at)
      }
      let host = Int((arrival.family - hosting.families.lowerBound) / hosting.perHost)
      waiting[host, default: []].append(arrival)
      count += 1
      total += 1
    }
    dispatch(&waiting)
    sleep(until: run.start + .seconds(run.seconds))
    return total
  }

  private func sleep(until moment: MonotonicInstant) {
    let (seconds, rest) = moment.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }

  private func dispatch(_ waiting: inout [Int: [Arrival]]) {
    for (index, arrivals) in waiting {
      let (host, users) = hosts[index]
      Task { await host.begin(arrivals, users, start: run.start) }
      for arrival in arrivals where arrival.kind == .off { takeOffline(arrival, host, users) }
    }
    waiting.removeAll(keepingCapacity: true)
  }

  /// Takes the guardians' or the child's devices offline for a while.
  private func takeOffline(_ arrival: Arrival, _ host: AgentHost, _ users: SimulatedUsers) {
    let family = FamilyID(arrival.family)
    let all = hosting.factory.devices.map { DeviceAddress(family: family, device: $0) }
    let isChild = arrival.random & 1 == 0
    let devices = all.filter { ($0.device == FamilyFactory.child) == isChild }
    let range = Self.offlineTime
    let time =
      range.lowerBound + Nanoseconds(arrival.random % (range.upperBound - range.lowerBound).count)
    Task {
      await host.setOnline(false, devices, users, family)
      try? await Task.sleep(for: Duration(time))
      await host.setOnline(true, all, users, family)
    }
  }
}

extension AgentHost {
  /// Lets the children's apps ask the planned questions.
  func begin(_ arrivals: [Arrival], _ users: SimulatedUsers, start: MonotonicInstant) {
    for arrival in arrivals {
      let child = DeviceAddress(family: FamilyID(arrival.family), device: FamilyFactory.child)
      for input in users.begin(arrival, scheduled: start + arrival.at) { act(input, on: child) }
    }
  }

  /// Takes devices offline, or brings the family's devices online when no other reason keeps them
  /// offline.
  func setOnline(
    _ isOnline: Bool, _ devices: [DeviceAddress], _ users: SimulatedUsers, _ family: FamilyID
  ) {
    if isOnline {
      guard users.bringOnline(family) else { return }
    } else {
      users.takeOffline(family)
    }
    for device in devices { setOnline(isOnline, device) }
  }
}
