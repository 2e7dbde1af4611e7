import Credentials
import FamilyCore
import FamilyModel
import Foundation
import Processes
import RelayClient
import Synchronization
import ZeroMQ

extension LoadRun {
  /// Starts the relay, creates the families and starts the workers that host them.
  func setUp() async throws {
    _ = try RelayKeys.create(in: relayFolder)
    let relay = try RelayProcess(relayFolder, maxFamilies: Int(settings.families) + 1)
    self.relay = relay
    var start = MonotonicInstant.now
    let before = ProcessReading(relay.pid)?.residentBytes ?? 0
    try createFamilies()
    results.setUp.foundingSeconds = (MonotonicInstant.now - start).seconds
    start = MonotonicInstant.now
    try await host(relay.pid)
    results.setUp.connectingSeconds = (MonotonicInstant.now - start).seconds
    start = MonotonicInstant.now
    try await waitUntilIdle(relay)
    results.setUp.settlingSeconds = (MonotonicInstant.now - start).seconds
    let after = ProcessReading(relay.pid)?.residentBytes ?? 0
    let families = Double(settings.families)
    results.setUp.relayBytesPerFamily = Double(after - before) / families
    results.setUp.workerBytesPerFamily = Double(memoryGrowth.values.reduce(0, +)) / families
    let names =
      [(relay.pid, "relay")] + workers.map { ($0.pid, "worker \($0.index + 1)") }
      + [(getpid(), "load")]
    sampler = ProcessSampler(names)
    progress.line(
      "set up \(settings.families) families in \(results.setUp.seconds.short) s"
    )
  }

  private func createFamilies() throws {
    let credential = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: relayFolder))
    var administrator = try Administrator(credential)
    // Each family needs its organizer's signature, so all cores share the work.
    let cores = UInt64(results.machine.cores)
    for first in stride(from: 1, through: settings.families, by: Int(Self.foundingBatch)) {
      let last = min(first + Self.foundingBatch - 1, settings.families)
      let size = (last - first) / cores + 1
      let parts = Mutex<[Int: Result<Founding, any Error>]>([:])
      DispatchQueue.concurrentPerform(iterations: Int(cores)) { [factory] core in
        let from = first + UInt64(core) * size
        guard from <= last else { return }
        let part = Result {
          try factory.signFoundingCommands(from...min(from + size - 1, last), relay: credential)
        }
        parts.withLock { $0[core] = part }
      }
      let commands = try parts.withLock { $0 }.sorted { $0.key < $1.key }
        .flatMap { try $0.value.get() }
      try administrator.sendAll(commands) { done in
        progress.update("creating families: \(Int(first) - 1 + done) of \(settings.families)")
      }
    }
  }

  private func host(_ relay: pid_t) async throws {
    let count = UInt64(settings.workers)
    // A connection's families share a key, so one worker hosts all of them.
    let blocks =
      (settings.families + settings.familiesPerConnection - 1)
      / settings.familiesPerConnection
    for index in 0..<count {
      let (from, to) = (blocks * index / count, blocks * (index + 1) / count)
      guard from < to else { continue }
      let last = min(to * settings.familiesPerConnection, settings.families)
      let families = (from * settings.familiesPerConnection + 1)...last
      let worker = try WorkerProcess(Int(index))
      ChildProcesses.add(worker.pid)
      workers.append(worker)
      readers.append(
        Task { for await report in worker.reports { self.receive(report, from: worker.index) } })
      worker.order(
        .host(
          HostingOrder(
            directory: folder.appendingPathComponent("worker-\(index + 1)").path,
            relay: relayFolder.path, relayPID: relay, families: families, factory: factory,
            perHost: settings.familiesPerHost, every: settings.checkedEvery)))
    }
    let devices = Int(settings.families) * factory.devices.count
    let limit = Self.setUpTimeout + Double(settings.families) / 100
    try await wait("the devices to be ready", limit) {
      progress.update("attached devices: \(ready.values.reduce(0, +)) of \(devices)")
      return memoryGrowth.count == workers.count
    }
  }

  /// Waits until the relay has processed the set-up's subscriptions and acknowledgements.
  private func waitUntilIdle(_ relay: RelayProcess) async throws {
    let end = MonotonicInstant.now + .seconds(Self.idleTimeout)
    var before = relay.cpuSeconds
    while MonotonicInstant.now < end {
      try await Task.sleep(for: .milliseconds(500))
      let now = relay.cpuSeconds
      if (now - before) / 0.5 < Self.idleCores { return }
      before = now
      progress.update("waiting for the relay to become idle")
    }
  }
}
