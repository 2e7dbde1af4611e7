import Foundation
import ProcessCluster
import RelayStore
import SQLiteStore
import Subprocess
import SystemPackage

extension Nemesis {
  /// Kills the processes and runs the body before their restarts.
  func whileDead<R>(_ names: [String], _ body: () async throws -> R) async throws -> R {
    let processes = names.map(chaosCluster.process)
    for process in processes { process.holdRestart() }
    defer { for process in processes { process.releaseRestart() } }
    while processes.contains(where: { !$0.isDown }) {
      for pid in processes.compactMap(\.pid) { Glibc.kill(pid, SIGKILL) }
      try? await Task.sleep(for: .milliseconds(5))
    }
    return try await body()
  }

  /// Cuts the power of the victims' machines. The apps that a device has launched end with it, and
  /// keep their disks.
  func losePower(_ fault: Fault) async throws -> [String] {
    for app in AppProcesses.children(of: fault.victims.compactMap { chaosCluster.process($0).pid })
    { Glibc.kill(app, SIGKILL) }
    try await whileDead(fault.victims) {
      for (number, name) in fault.victims.enumerated() {
        try chaosCluster.power[name]!.cutPower(fault.seed &+ UInt64(number))
      }
    }
    return fault.victims
  }

  func damageRelay(_ fault: Fault) async throws -> [String] {
    try await whileDead(["relay"]) {
      let (name, folder) = ("relay.sqlite", chaosCluster.layout.relay)
      let file = folder.appendingPathComponent(name)
      // Checkpoint first, so that the write-ahead log does not cover the damaged pages.
      try SQLiteEventStore(path: file.path).close()
      try chaosCluster.power["relay"]!.markSynced()
      let copies = try makeFolder("undamaged-\(fault.seed)")
      defer { try? FileManager.default.removeItem(at: copies) }
      try Damage.replace(name, in: copies, by: folder)
      guard try Damage.flip(.events, in: folder, name, fault.seed) else { return [] }
      if try isWhole(file) {
        log.addFinding("a whole check did not report the relay's damaged file")
      }
      try Damage.replace(name, in: folder, by: copies)
      try chaosCluster.power["relay"]!.markSynced()
      return ["relay"]
    }
  }

  /// Whether a whole check finds no damage. A relay must not serve the file: it would accept commands
  /// that are lost when the file is restored.
  private func isWhole(_ file: URL) throws -> Bool {
    do throws(StoreError) {
      let store = try SQLiteEventStore(path: file.path)
      defer { store.close() }
      try store.check(whole: .max)
      return true
    } catch {
      guard error.isDamage else { throw error }
      return false
    }
  }

  func damageAgent(_ fault: Fault) async throws -> [String] {
    let name = fault.victims[0]
    return try await whileDead([name]) {
      let folder = chaosCluster.layout.agent(name)
      try SQLiteAgentStore(path: folder.appendingPathComponent("agent.sqlite").path).close()
      try chaosCluster.power[name]!.markSynced()
      guard try Damage.flip(.structure, in: folder, "agent.sqlite", fault.seed) else { return [] }
      let message = try await refusal(of: name)
      if !message.contains("problem 503") {
        log.addFinding("\(name) did not report its damaged file: \(message)")
      }
      try Damage.remove(folder, "agent.sqlite")
      let all = devices + (try chaosCluster.crowd?.devices() ?? [])
      let own = all.filter { $0.agent == name }.map(\.credential.address)
      await observer.forget(own)
      return [name]
    }
  }

  /// Starts the process without its supervisor and without other faults.
  ///
  /// - Returns: The process's error message; empty if the process keeps running or succeeds.
  private func refusal(of name: String) async throws -> String {
    let (program, arguments, environment) = chaosCluster.process(name).command
    let result = try await Subprocess.run(
      .path(FilePath(program)), arguments: Arguments(arguments),
      environment: .inherit.updating(
        Dictionary(
          uniqueKeysWithValues:
            environment
            .filter { !["CHAOS_JOURNAL", "CHAOS_CONTROL"].contains($0.key) }
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
}
