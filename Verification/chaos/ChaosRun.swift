import Credentials
import FamilyModel
import Foundation
import History
import ProcessCluster
import RelayClient
import Subprocess
import SystemPackage

/// One run from its beginning to the checkers' verdicts.
struct ChaosRun: Sendable {
  let seed: UInt64
  let seconds: Double
  let families: Int
  let kinds: [Fault.Kind]
  let layout: Layout
  let mutant: Mutant?
  let isQuiet: Bool
  /// Seconds that a recovery, and the end, may take.
  let patience: Double

  func play() async throws -> RunResult {
    try layout.clear()
    let stage = try await ChaosCluster(layout, families: families, mutant: mutant)
    let cleaner = Task { try await self.startGuard() }
    defer { cleaner.cancel() }
    do {
      let result = try await play(on: stage)
      await stage.cluster.stop()
      await stage.proxy.stop()
      return result
    } catch {
      await stage.cluster.stop()
      await stage.proxy.stop()
      for pid in OrphanReaper.processes(of: layout.root.path) { kill(pid, SIGKILL) }
      throw error
    }
  }

  private func play(on stage: ChaosCluster) async throws -> RunResult {
    try await stage.cluster.start { say($0) }
    let devices = try stage.devices()
    try await setPasscodes(stage, devices)
    let recorder = Recorder()
    let log = Log()
    let observer = Observer(
      agents: stage.cluster.agents.map(\.log), apps: appLogs(devices), recorder)
    let watching = Task { await observer.run() }
    let secrecy = LeakCheck(layout, stage.families)
    let searching = Task { await secrecy.watch() }
    defer { searching.cancel() }
    let workloads = workloads(stage, devices, recorder, log)
    // Who opened the app once may have it launched.
    for workload in workloads {
      for device in workload.child {
        _ = try await workload.openApp(device, ["background", "--idle", "0.3"])
      }
    }
    let plan = FaultPlan(
      seed: seed, seconds: seconds, agents: stage.cluster.agents.map(\.name), kinds: kinds)
    say("\(plan.faults.count) faults in \(Int(seconds)) s, \(devices.count) devices, seed \(seed)")
    let begin = recorder.now
    let nemesis = Nemesis(stage, recorder, log, observer, devices, begin: begin, patience: patience)
    let people = Task { await work(workloads) }
    let breaking = Task { await nemesis.run(plan) }
    let telling = Task { await tell(log, recorder, until: begin + seconds) }
    await withTaskCancellationHandler {
      try? await Task.sleep(for: .seconds(seconds))
      await breaking.value
    } onCancel: {
      breaking.cancel()
      people.cancel()
      telling.cancel()
    }
    telling.cancel()
    people.cancel()
    await people.value
    try Task.checkCancellation()
    let ending = HealAndVerify(
      stage: stage, recorder: recorder, devices: devices, patience: patience)
    ending.heal()
    let healed = recorder.now
    say("healed; waiting until everything is everywhere")
    // On a device that began anew the app is not launched before a person has opened it.
    let anew = await observer.anew
    for workload in workloads {
      for device in workload.child where anew.contains(device.address) {
        _ = try? await workload.openApp(device, ["background", "--idle", "0.3"])
      }
    }
    let stuck = await ending.converge()
    let converged = recorder.now
    try Task.checkCancellation()
    await stage.cluster.stop()
    watching.cancel()
    await watching.value
    try ending.read()
    for leak in try secrecy.findings(agents: stage.cluster.agents.count) { log.find(leak) }
    // A run in which nobody came through tests nothing.
    for kind in Set(log.operations.map(\.kind)).sorted() {
      let some = log.operations.filter { $0.kind == kind }
      if some.count >= 5, !some.contains(where: { $0.outcome == .ok }) {
        log.find("\(kind): none of \(some.count) came through")
      }
    }
    let history = recorder.all
    return RunResult(
      seed: seed, seconds: seconds, families: families, devices: devices.count,
      operations: log.operations, faults: log.faults, findings: log.findings,
      verdicts: history.verdicts().map { RunResult.Verdict($0.name, $0.verdict) },
      facts: history.entries.count, begin: begin, healed: healed,
      converged: stuck == nil ? converged : nil)
  }

  private func work(_ workloads: [Workload]) async {
    await withTaskGroup { group in
      for workload in workloads {
        group.addTask { await workload.ask(seed &* 31 &+ workload.family) }
        group.addTask { await workload.talk(seed &* 37 &+ workload.family) }
      }
    }
  }

  private func workloads(
    _ stage: ChaosCluster, _ devices: [(agent: String, credential: Credential)],
    _ recorder: Recorder,
    _ log: Log
  ) -> [Workload] {
    let members = Dictionary(grouping: devices.map(\.credential), by: \.address.family)
    return members.keys.sorted().map { family in
      Workload(
        stage: stage, recorder: recorder, log: log, family: family.rawValue,
        child: members[family]!.filter { $0.role == .child },
        guardians: members[family]!.filter(\.role.isGuardian))
    }
  }

  private func appLogs(_ devices: [(agent: String, credential: Credential)]) -> [(
    file: URL, app: AppAddress
  )] {
    devices.filter { $0.credential.role == .child }.flatMap { agent, credential in
      let address = credential.address
      let app = AppAddress(address, AppID(RunningCluster.app))
      let name = "\(address.family.rawValue)-\(address.device.rawValue)-\(RunningCluster.app).log"
      return [
        (Workload.log(of: credential, layout), app),
        (layout.agent(agent).appendingPathComponent(name), app),
      ]
    }
  }

  private func setPasscodes(
    _ stage: ChaosCluster, _ devices: [(agent: String, credential: Credential)]
  ) async throws {
    let organizers = devices.map(\.credential).filter { $0.role == .organizer }
    try await blocking {
      for organizer in organizers {
        var client = try DeviceClient(organizer)
        try client.send(.setPasscode(PasscodeCipher.make(ChaosCluster.passcode)))
      }
    }
  }

  private func startGuard() async throws {
    let own = Bundle.main.executableURL?.path ?? CommandLine.arguments[0]
    _ = try await Subprocess.run(
      .path(FilePath(own)), arguments: ["guard", layout.root.path, "\(getpid())"],
      input: .none, output: .discarded, error: .discarded)
  }

  // MARK: progress

  private func say(_ text: String) {
    FileHandle.standardError.write(Data((isQuiet ? "" : text + "\n").utf8))
  }

  private func tell(_ log: Log, _ recorder: Recorder, until end: Double) async {
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
