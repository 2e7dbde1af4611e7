import Credentials
import FamilyModel
import Foundation
import History
import ProcessCluster
import RelayClient
import Subprocess
import SystemPackage

/// One run, from the cluster's start to the checkers' verdicts.
struct ChaosRun: Sendable {
  let seed: UInt64
  let seconds: Double
  let families: Int
  /// The families that keep the relay busy; `nil` without any.
  let crowd: Crowd?
  let kinds: [Fault.Kind]
  /// The mean seconds between the starts of two faults.
  let pause: Double
  let layout: Layout
  let mutant: Mutant?
  /// The versions of the programs; `nil` with one version.
  let versions: Versions?
  let isQuiet: Bool
  /// Seconds within which each recovery and the final convergence must end.
  let patience: Double
  /// The least commands of the crowd in a median second.
  let floor: Double

  func play() async throws -> RunResult {
    try layout.clear()
    let chaosCluster = try await ChaosCluster(
      layout, families: families, crowd: crowd, mutant: mutant, versions: versions)
    let cleaner = Task { try await self.startOrphanReaper() }
    defer { cleaner.cancel() }
    do {
      let result = try await play(on: chaosCluster)
      await chaosCluster.cluster.stop()
      await chaosCluster.proxy.stop()
      return result
    } catch {
      await chaosCluster.cluster.stop()
      await chaosCluster.proxy.stop()
      for pid in OrphanReaper.processes(of: layout.root.path) { kill(pid, SIGKILL) }
      throw error
    }
  }

  /// The parts of a run whose cluster has started.
  private struct Parts {
    let cluster: ChaosCluster
    let devices: [(agent: String, credential: Credential)]
    let recorder: Recorder
    let log: RunLog
    let observer: Observer
    let workloads: [Workload]
  }

  private func play(on cluster: ChaosCluster) async throws -> RunResult {
    try await cluster.cluster.start { say($0) }
    try await waitForCrowd(cluster)
    let devices = try cluster.devices()
    try await setPasscodes(cluster, devices)
    let (recorder, log) = (Recorder(), RunLog())
    let observer = Observer(
      agents: cluster.cluster.agents.map(\.log), apps: deliveries(devices), recorder)
    let parts = Parts(
      cluster: cluster, devices: devices, recorder: recorder, log: log, observer: observer,
      workloads: workloads(cluster, devices, recorder, log))
    let observerTask = Task { await observer.run() }
    let leakCheck = LeakCheck(layout, cluster.families)
    let leakTask = Task { await leakCheck.watch() }
    let activity = RelayActivity(layout, cluster.cluster.relay)
    let activityTask = Task { await activity.watch() }
    defer {
      leakTask.cancel()
      activityTask.cancel()
    }
    // A device launches only apps that a person has opened once.
    for workload in parts.workloads {
      for device in workload.child {
        _ = try await workload.openApp(device, ["background", "--idle", "0.3"])
      }
    }
    let begin = await injectFaults(parts)
    try Task.checkCancellation()
    let verification = HealAndVerify(
      chaosCluster: cluster, recorder: recorder, devices: devices, patience: patience)
    try crowd?.stopPeople()
    verification.heal()
    let healed = recorder.now
    say("healed; waiting for convergence")
    let unfinishedWork = await waitForConvergence(verification, parts)
    let converged = recorder.now
    try Task.checkCancellation()
    await cluster.cluster.stop()
    observerTask.cancel()
    await observerTask.value
    say("reading the stores")
    // Without all facts of the stores the checkers have no verdict.
    do { try verification.read() } catch { log.addFinding("a store cannot be read: \(error)") }
    for leak in try leakCheck.findings(agents: cluster.cluster.agents.count) {
      log.addFinding(leak)
    }
    findIneffectiveOperations(log)
    if let finding = versions?.finding { log.addFinding(finding) }
    let history = recorder.all
    let crowdChecks = try crowd.map { crowd in
      let checks = try CrowdChecks(
        crowd, history, isRestored: log.hasRestoredCopy, clock: recorder.clock, begin: begin
      ) { done in
        if done % 100 == 0 { say("checked \(done) of \(crowd.plan.families) families") }
      }
      let slowness = checks.rates.slowness(below: floor, first: seconds)
      let idle = try activity.findings(checks.rates.total, crowd.rate, seconds: seconds)
      for finding in idle + [slowness].compactMap({ $0 }) { log.addFinding(finding) }
      return checks
    }
    return RunResult(
      seed: seed, seconds: seconds, families: families, devices: devices.count,
      operations: log.operations, faults: log.faults, findings: log.findings,
      verdicts: history.verdicts(of: GivenBack.checkers(log)).map {
        RunResult.Verdict($0.name, $0.verdict)
      },
      facts: history.entries.count, begin: begin, healed: healed,
      converged: unfinishedWork == nil ? converged : nil, crowd: crowdChecks,
      machine: crowd == nil ? nil : try .measured(), versions: versions?.line)
  }

  /// Runs the workload under the planned faults until all faults have ended.
  ///
  /// - Returns: When the first fault could begin, on the recorder's clock.
  private func injectFaults(_ parts: Parts) async -> Double {
    let plan = FaultPlan(
      seed: seed, seconds: seconds, pause: pause,
      agents: parts.cluster.cluster.agents.map(\.name) + (crowd?.plan.names ?? []), kinds: kinds)
    say(
      "\(plan.faults.count) faults in \(Int(seconds)) s, \(parts.devices.count) devices, seed \(seed)"
    )
    let begin = parts.recorder.now
    let nemesis = Nemesis(
      parts.cluster, parts.recorder, parts.log, parts.observer, parts.devices, begin: begin,
      patience: patience)
    let workloadTask = Task { await work(parts.workloads) }
    let faultTask = Task { await nemesis.run(plan) }
    let progressTask = Task {
      await reportProgress(parts.log, parts.recorder, until: begin + seconds)
    }
    await withTaskCancellationHandler {
      try? await Task.sleep(for: .seconds(seconds))
      await faultTask.value
    } onCancel: {
      faultTask.cancel()
      workloadTask.cancel()
      progressTask.cancel()
    }
    progressTask.cancel()
    workloadTask.cancel()
    await workloadTask.value
    return begin
  }

  /// Waits until all devices of the crowd have attached for the first time.
  private func waitForCrowd(_ cluster: ChaosCluster) async throws {
    guard let crowd else { return }
    say("waiting for \(crowd.plan.families) families of the crowd")
    try await cluster.cluster.wait("the crowd to connect") {
      crowd.plan.names.indices.allSatisfy { number in
        guard let status = crowd.status(number) else { return false }
        return status.devices > 0 && status.connected == status.devices && status.position > 0
      }
    }
  }

  /// - Returns: The unfinished work; `nil` if the system converged in time.
  private func waitForConvergence(_ verification: HealAndVerify, _ parts: Parts) async -> String? {
    // A person must open the app again on a device that lost its state.
    let resetDevices = await parts.observer.resetDevices
    for workload in parts.workloads {
      for device in workload.child where resetDevices.contains(device.address) {
        _ = try? await workload.openApp(device, ["background", "--idle", "0.3"])
      }
    }
    return await verification.waitForConvergence()
  }

  /// A run in which a kind of operation never succeeded tests nothing.
  private func findIneffectiveOperations(_ log: RunLog) {
    for kind in Set(log.operations.map(\.kind)).sorted() {
      let operations = log.operations.filter { $0.kind == kind }
      if operations.count >= 5, !operations.contains(where: { $0.outcome == .ok }) {
        log.addFinding("\(kind): none of \(operations.count) operations succeeded")
      }
    }
  }

  private func work(_ workloads: [Workload]) async {
    await withTaskGroup { group in
      for workload in workloads {
        group.addTask { await workload.ask(seed &* 31 &+ workload.family) }
        group.addTask { await workload.interact(seed &* 37 &+ workload.family) }
      }
    }
  }

  private func workloads(
    _ chaosCluster: ChaosCluster, _ devices: [(agent: String, credential: Credential)],
    _ recorder: Recorder,
    _ log: RunLog
  ) -> [Workload] {
    let members = Dictionary(grouping: devices.map(\.credential), by: \.address.family)
    let clients = PeopleClients(devices.map(\.credential))
    return members.keys.sorted().map { family in
      Workload(
        chaosCluster: chaosCluster, recorder: recorder, log: log, family: family.rawValue,
        child: members[family]!.filter { $0.role == .child },
        guardians: members[family]!.filter(\.role.isGuardian), clients: clients)
    }
  }

  /// The files in which the apps record each delivery themselves, before they acknowledge it.
  private func deliveries(_ devices: [(agent: String, credential: Credential)]) -> [(
    file: URL, app: AppAddress
  )] {
    devices.map(\.credential).filter { $0.role == .child }.map { credential in
      let address = credential.address
      let folder = layout.appFolder(
        family: address.family.rawValue, device: address.device.rawValue)
      return (
        folder.appendingPathComponent("landmarks.deliveries"),
        AppAddress(address, AppID(RunningCluster.app))
      )
    }
  }

  private func setPasscodes(
    _ chaosCluster: ChaosCluster, _ devices: [(agent: String, credential: Credential)]
  ) async throws {
    let organizers = devices.map(\.credential).filter { $0.role == .organizer }
    try await blocking {
      for organizer in organizers {
        var client = try DeviceClient(organizer)
        try client.setPasscode(ChaosCluster.passcode)
      }
    }
  }

  private func startOrphanReaper() async throws {
    let own = Bundle.main.executableURL?.path ?? CommandLine.arguments[0]
    _ = try await Subprocess.run(
      .path(FilePath(own)), arguments: [OrphanReaper.name, layout.root.path, "\(getpid())"],
      input: .none, output: .discarded, error: .discarded)
  }

  // MARK: progress

  private func say(_ text: String) {
    FileHandle.standardError.write(Data((isQuiet ? "" : text + "\n").utf8))
  }

  private func reportProgress(_ log: RunLog, _ recorder: Recorder, until end: Double) async {
    let isTerminal = isatty(STDERR_FILENO) == 1
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(isTerminal ? 1 : 10))
      let (faults, operations) = (log.faults, log.operations)
      let ok = operations.count { $0.outcome == .ok }
      let line =
        "\(max(0, Int(end - recorder.now))) s left, \(faults.count) faults recovered, "
        + "\(operations.count) operations (\(ok) done), \(log.findings.count) findings"
      say(isTerminal ? "\u{1B}[1A\u{1B}[2K" + line : line)
    }
  }
}
