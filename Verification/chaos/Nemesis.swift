import Credentials
import FamilyModel
import FaultNetwork
import Foundation
import History
import ProcessCluster
import RelayClient
import SQLiteStore
import Subprocess
import Synchronization
import SystemPackage

/// Injects the planned faults and measures the recovery of their victims.
final class Nemesis: Sendable {
  let chaosCluster: ChaosCluster
  let recorder: Recorder
  let log: RunLog
  let observer: Observer
  let devices: [(agent: String, credential: Credential)]
  /// The start of the plan on the recorder's clock, in seconds.
  let begin: Double
  /// Seconds within which a recovery must end.
  let patience: Double
  /// The reason why the last probe has not succeeded yet.
  let lastProbeFailure = Mutex("")
  /// The faults that keep a process from ending in time.
  let disturbances = Disturbances()
  /// Serializes the restorations of copies.
  let copies = SerialQueue()
  /// Serializes the faults that change files of dead processes.
  let fileAccess = SerialQueue()

  init(
    _ chaosCluster: ChaosCluster, _ recorder: Recorder, _ log: RunLog, _ observer: Observer,
    _ devices: [(agent: String, credential: Credential)], begin: Double, patience: Double
  ) {
    self.patience = patience
    self.begin = begin
    self.chaosCluster = chaosCluster
    self.recorder = recorder
    self.log = log
    self.observer = observer
    self.devices = devices
  }

  /// Injects each fault at its time. Returns when all faults have ended and recovered. A cancelled
  /// task begins no further faults.
  func run(_ plan: FaultPlan) async {
    await withTaskGroup { group in
      for fault in plan.faults {
        group.addTask {
          let wait = self.begin + fault.at - self.recorder.now
          try? await Task.sleep(for: .seconds(max(0, wait)))
          guard !Task.isCancelled else { return }
          await self.inject(fault)
        }
      }
    }
  }

  private func inject(_ fault: Fault) async {
    recorder.record(.fault("\(fault.kind.rawValue) \(fault.victims.joined(separator: " "))"))
    let from = recorder.now
    var injected = InjectedFault(fault: fault, from: from, to: from, victims: [])
    disturbances.begin(fault)
    do {
      injected.victims = try await carryOut(fault, &injected)
    } catch {
      log.addFinding("\(fault.kind.rawValue) could not be injected: \(error)")
    }
    disturbances.end(fault)
    injected.to = recorder.now
    if !injected.victims.isEmpty, !Task.isCancelled {
      injected.recovery = await recovery(of: injected)
    }
    log.add(injected)
  }

  private func carryOut(_ fault: Fault, _ injected: inout InjectedFault) async throws -> [String] {
    var random = IDSource(seed: fault.seed)
    switch fault.kind {
    case .kill: return signal(fault.victims, SIGKILL)
    case .stop:
      let pids = fault.victims.flatMap { name in self.pids(name).map { (name, $0) } }
      for (_, pid) in pids { Glibc.kill(pid, SIGSTOP) }
      await waitForEnd(of: fault)
      // Continue by pid: a process killed meanwhile must not affect its successor.
      for (_, pid) in pids { Glibc.kill(pid, SIGCONT) }
      return Set(pids.map { $0.0 }).sorted()
    case .storm:
      for _ in 0..<Int.random(in: 3...6, using: &random) {
        _ = signal(fault.victims, SIGKILL)
        try? await Task.sleep(for: .milliseconds(Int.random(in: 120...400, using: &random)))
      }
      return fault.victims
    case .cut, .slow, .blackHole, .oneWay: return await network(fault, &random)
    case .diskFull:
      let control = chaosCluster.controls[fault.victims[0]]!
      control.setRoom(Int64.random(in: 0...20_000, using: &random))
      await waitForEnd(of: fault)
      control.setRoom(nil)
      return fault.victims
    case .slowDisk:
      let control = chaosCluster.controls[fault.victims[0]]!
      control.setSyncDelay(.random(in: 20...300, using: &random))
      await waitForEnd(of: fault)
      control.setSyncDelay(0)
      return fault.victims
    case .diskError:
      let control = chaosCluster.controls[fault.victims[0]]!
      let all: Control.Operations = [.reads, .writes, .syncs]
      let operations = [.reads, .writes, .syncs, all].randomElement(using: &random)!
      let chance = [0.01, 0.1, 0.5, 1].randomElement(using: &random)!
      control.setErrors(operations, chance: chance, seed: fault.seed)
      await waitForEnd(of: fault)
      control.setErrors([], chance: 0)
      return fault.victims
    case .clock:
      let control = chaosCluster.controls[fault.victims[0]]!
      let jump = [5_000, 60_000, 3_600_000, 172_800_000].randomElement(using: &random)! as Int64
      let offset = Bool.random(using: &random) ? jump : -jump
      control.setClock(offset)
      injected.note = "by \(offset / 1_000) s"
      await waitForEnd(of: fault)
      control.setClock(0)
      return fault.victims
    case .powerLoss: return try await fileAccess.run { try await self.losePower(fault) }
    case .damagedRelay: return try await fileAccess.run { try await self.damageRelay(fault) }
    case .damagedAgent: return try await fileAccess.run { try await self.damageAgent(fault) }
    case .restoredCopy: return try await copies.run { try await self.restoreCopy(fault) }
    case .terminate: return await terminate(fault.victims)
    case .rollingRestart: return await restartInTurn(fault.victims)
    case .netem: return try await Netem.run(fault)
    }
  }

  private func waitForEnd(of fault: Fault) async {
    try? await Task.sleep(for: .seconds(fault.lasts))
  }

  private func pids(_ name: String) -> [pid_t] {
    guard name.hasSuffix("*") else { return [chaosCluster.process(name).pid].compactMap { $0 } }
    let agent = chaosCluster.process(String(name.dropLast())).pid
    return AppProcesses.children(of: [agent].compactMap { $0 })
  }

  private func signal(_ names: [String], _ number: Int32) -> [String] {
    names.filter { name in
      let pids = self.pids(name)
      for pid in pids { Glibc.kill(pid, number) }
      return !pids.isEmpty
    }
  }

  private func network(_ fault: Fault, _ random: inout IDSource) async -> [String] {
    let links = fault.victims.flatMap { chaosCluster.links[$0]! }
    // The seed selects one or both of the sockets.
    let chosen = links.enumerated().filter { [0, 1, 2][Int(fault.seed % 3)] != $0.offset % 2 }
      .map(\.element)
    let slowness = ProxyLink.Slowness(&random)
    let isUp = Bool.random(using: &random)
    for link in chosen {
      link.set { faults in
        switch fault.kind {
        case .cut: faults.isCut = true
        case .slow: faults.slowness = slowness
        case .blackHole: (faults.holdsUp, faults.holdsDown) = (true, true)
        default: if isUp { faults.holdsUp = true } else { faults.holdsDown = true }
        }
      }
    }
    await waitForEnd(of: fault)
    let isReset = Bool.random(using: &random)
    for link in chosen {
      link.set { $0 = ProxyLink.Faults() }
      if isReset, fault.kind != .slow { link.reset() }
    }
    return fault.victims
  }
}
