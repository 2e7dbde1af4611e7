import Credentials
import FamilyModel
import Foundation
import History
import ProcessCluster
import RelayClient
import SQLiteStore
import Subprocess
import Synchronization
import SystemPackage

/// Carries out the plan, and takes the time until everybody who was hit is well again.
final class Nemesis: Sendable {
  let stage: ChaosCluster
  let recorder: Recorder
  let log: Log
  let observer: Observer
  let devices: [(agent: String, credential: Credential)]
  /// When the plan's time begins.
  let begin: Double
  /// Seconds to wait for a recovery.
  let patience: Double
  /// Why the last probe did not come through yet.
  private let last = Mutex("")
  /// Files of a dead process are changed by one at a time.
  private let surgery = Turn()

  init(
    _ stage: ChaosCluster, _ recorder: Recorder, _ log: Log, _ observer: Observer,
    _ devices: [(agent: String, credential: Credential)], begin: Double, patience: Double
  ) {
    self.patience = patience
    self.begin = begin
    self.stage = stage
    self.recorder = recorder
    self.log = log
    self.observer = observer
    self.devices = devices
  }

  /// Each fault at its time; returns when all have ended and recovered. No fault begins after `isOver`.
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
    recorder.note(.fault("\(fault.kind.rawValue) \(fault.victims.joined(separator: " "))"))
    let from = recorder.now
    var injected = Injected(fault: fault, from: from, to: from, hit: [])
    do {
      injected.hit = try await carryOut(fault, &injected)
    } catch {
      log.find("\(fault.kind.rawValue) could not be done: \(error)")
    }
    injected.to = recorder.now
    if !injected.hit.isEmpty, !Task.isCancelled {
      injected.recovery = await recovery(of: injected)
    }
    log.add(injected)
  }

  private func carryOut(_ fault: Fault, _ injected: inout Injected) async throws -> [String] {
    var random = IDSource(seed: fault.seed)
    switch fault.kind {
    case .kill: return signal(fault.victims, SIGKILL)
    case .stop:
      let pids = fault.victims.flatMap { name in self.pids(name).map { (name, $0) } }
      for (_, pid) in pids { Glibc.kill(pid, SIGSTOP) }
      await lasting(fault)
      // By pid: who was killed meanwhile has nothing to continue.
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
      let control = stage.controls[fault.victims[0]]!
      control.setRoom(Int64.random(in: 0...20_000, using: &random))
      await lasting(fault)
      control.setRoom(nil)
      return fault.victims
    case .slowDisk:
      let control = stage.controls[fault.victims[0]]!
      control.setSyncDelay(.random(in: 20...300, using: &random))
      await lasting(fault)
      control.setSyncDelay(0)
      return fault.victims
    case .clock:
      let control = stage.controls[fault.victims[0]]!
      let jump = [5_000, 60_000, 3_600_000, 172_800_000].randomElement(using: &random)! as Int64
      let offset = Bool.random(using: &random) ? jump : -jump
      control.setClock(offset)
      injected.note = "by \(offset / 1_000) s"
      await lasting(fault)
      control.setClock(0)
      return fault.victims
    case .powerLoss: return try await surgery.take { try await self.losePower(fault) }
    case .damagedRelay: return try await surgery.take { try await self.damageRelay(fault) }
    case .damagedAgent: return try await surgery.take { try await self.damageAgent(fault) }
    case .netem: return try await Netem.run(fault)
    }
  }

  private func lasting(_ fault: Fault) async { try? await Task.sleep(for: .seconds(fault.lasts)) }

  private func pids(_ name: String) -> [pid_t] {
    guard name.hasSuffix("*") else { return [stage.process(name).pid].compactMap { $0 } }
    let agent = stage.process(String(name.dropLast())).pid
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
    let shards = fault.victims.flatMap { stage.shards[$0]! }
    // One of the two sockets, or both.
    let chosen = shards.enumerated().filter { [0, 1, 2][Int(fault.seed % 3)] != $0.offset % 2 }
      .map(\.element)
    let slowness = Lane.Slowness(&random)
    let isUp = Bool.random(using: &random)
    for shard in chosen {
      shard.set { faults in
        switch fault.kind {
        case .cut: faults.isCut = true
        case .slow: faults.slowness = slowness
        case .blackHole: (faults.holdsUp, faults.holdsDown) = (true, true)
        default: if isUp { faults.holdsUp = true } else { faults.holdsDown = true }
        }
      }
    }
    await lasting(fault)
    let isReset = Bool.random(using: &random)
    for shard in chosen {
      shard.set { $0 = Lane.Faults() }
      if isReset, fault.kind != .slow { shard.reset() }
    }
    return fault.victims
  }

  // MARK: files

  /// Kills the process, does something to its files, and lets it start again.
  private func whileDead<R>(_ name: String, _ body: () async throws -> R) async throws -> R {
    let process = stage.process(name)
    process.hold()
    defer { process.release() }
    while let pid = process.pid {
      Glibc.kill(pid, SIGKILL)
      try? await Task.sleep(for: .milliseconds(5))
    }
    return try await body()
  }

  private func losePower(_ fault: Fault) async throws -> [String] {
    _ = try await whileDead("relay") { try stage.power.strike(fault.seed) }
    return ["relay"]
  }

  private func damageRelay(_ fault: Fault) async throws -> [String] {
    try await whileDead("relay") {
      let folder = stage.layout.relay
      // The log of the database goes into the file first: what is flipped there must not be covered by it.
      try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path).close()
      try stage.power.adopt()
      let copy = try Damage.copy(folder, "relay.sqlite")
      guard try Damage.flip(Damage.tableLeaf, in: folder, "relay.sqlite", fault.seed) else {
        return []
      }
      let words = try await refusal(of: "relay")
      if !words.contains("problem 503") {
        log.find("the relay started with a damaged file, or without saying so: \(words)")
      }
      try Damage.restore(copy, in: folder, "relay.sqlite")
      try stage.power.adopt()
      return ["relay"]
    }
  }

  private func damageAgent(_ fault: Fault) async throws -> [String] {
    let name = fault.victims[0]
    return try await whileDead(name) {
      let folder = stage.layout.agent(name)
      try SQLiteAgentStore(path: folder.appendingPathComponent("agent.sqlite").path).close()
      guard try Damage.flip(nil, in: folder, "agent.sqlite", fault.seed) else { return [] }
      let words = try await refusal(of: name)
      if !words.contains("problem 503") {
        log.find("\(name) started with a damaged file, or without saying so: \(words)")
      }
      try Damage.remove(folder, "agent.sqlite")
      let own = devices.filter { $0.agent == name }.map(\.credential.address)
      await observer.forget(own)
      return [name]
    }
  }

  /// Starts the process beside the supervisor; gives what it says when it refuses, or "" when it runs.
  private func refusal(of name: String) async throws -> String {
    let (program, arguments, environment) = stage.process(name).command
    let result = try await Subprocess.run(
      .path(FilePath(program)), arguments: Arguments(arguments),
      environment: .inherit.updating(
        Dictionary(
          uniqueKeysWithValues: environment.filter { $0.key != "CHAOS_JOURNAL" }
            .map { (Environment.Key(stringLiteral: $0), $1) })),
      input: .none, output: .discarded, error: .string(limit: 1 << 16)
    ) { execution in
      killLater(execution.processIdentifier.value, after: 5)
    }
    result.closureResult.cancel()
    guard case .exited = result.terminationStatus, !result.terminationStatus.isSuccess else {
      return ""
    }
    return result.standardError
  }

  // MARK: recovery

  /// Says something in each family that was hit, past the proxies, and waits until it is on all devices
  /// that were.
  private func recovery(of injected: Injected) async -> Double? {
    let agents = Set(injected.hit.map { $0.replacingOccurrences(of: "*", with: "") })
    let isRelay = agents.contains("relay")
    let hit = devices.filter { isRelay || agents.contains($0.agent) }
    let families = Set(hit.map(\.credential.address.family)).sorted()
    let end = recorder.now + patience
    let times = await withTaskGroup(of: Double?.self) { group in
      for family in families {
        let wanted = Set(hit.map(\.credential.address).filter { $0.family == family })
        group.addTask { await self.probe(family, wanted, until: end) }
      }
      return await group.reduce(into: [Double?]()) { $0.append($1) }
    }
    if times.contains(nil) {
      if !Task.isCancelled {
        log.find(
          "\(injected.fault.kind.rawValue) of \(injected.hit) at \(Int(injected.from - begin)) s: "
            + "no recovery in time: \(last.withLock { $0 })")
      }
      return nil
    }
    return times.compactMap { $0 }.max().map { $0 - injected.to }
  }

  private func probe(_ family: FamilyID, _ wanted: Set<DeviceAddress>, until end: Double) async
    -> Double?
  {
    let members = devices.map(\.credential).filter { $0.address.family == family }
    guard var guardian = members.first(where: { $0.role.isGuardian }),
      let child = members.first(where: { $0.role == .child })
    else { return nil }
    guardian.requests = stage.requests
    let (credential, recorder) = (guardian, recorder)
    while recorder.now < end, !Task.isCancelled {
      let said: UInt64
      do {
        said = try await blocking {
          var client = try DeviceClient(credential)
          let said = try client.send(.post(child: child.personID, .text("well again?")))
          recorder.note(.acknowledged(credential.address, said.id, seq: said.seq))
          return said.seq
        }
      } catch {
        last.withLock { $0 = "\(error)" }
        try? await Task.sleep(for: .milliseconds(50))
        continue
      }
      while recorder.now < end, !Task.isCancelled {
        let reached = await observer.devices(of: wanted, with: said)
        if reached == wanted { return recorder.now }
        let lacking = wanted.subtracting(reached).sorted().map(\.device.rawValue)
        last.withLock { $0 = "devices \(lacking) of family \(family.rawValue) lack it" }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
    return nil
  }
}

/// One at a time, in the order of coming.
actor Turn {
  private var last: Task<Void, Never>?
  func take<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    let before = last
    let work = Task {
      await before?.value
      return try await body()
    }
    last = Task { _ = try? await work.value }
    return try await work.value
  }
}
