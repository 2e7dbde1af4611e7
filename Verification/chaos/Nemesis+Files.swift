import Foundation
import SQLiteStore
import Subprocess
import SystemPackage

extension Nemesis {
  /// Kills the process and runs the body before its restart.
  private func whileDead<R>(_ name: String, _ body: () async throws -> R) async throws -> R {
    let process = chaosCluster.process(name)
    process.holdRestart()
    defer { process.releaseRestart() }
    while let pid = process.pid {
      Glibc.kill(pid, SIGKILL)
      try? await Task.sleep(for: .milliseconds(5))
    }
    return try await body()
  }

  func losePower(_ fault: Fault) async throws -> [String] {
    _ = try await whileDead("relay") { try chaosCluster.power.cutPower(fault.seed) }
    return ["relay"]
  }

  func damageRelay(_ fault: Fault) async throws -> [String] {
    try await whileDead("relay") {
      let folder = chaosCluster.layout.relay
      // Checkpoint first, so that the write-ahead log does not cover the damaged pages.
      try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path).close()
      try chaosCluster.power.markSynced()
      let copy = try Damage.copy(folder, "relay.sqlite")
      guard try Damage.flip(Damage.tableLeaf, in: folder, "relay.sqlite", fault.seed) else {
        return []
      }
      let message = try await refusal(of: "relay")
      if !message.contains("problem 503") {
        log.addFinding("the relay did not report its damaged file: \(message)")
      }
      try Damage.restore(copy, in: folder, "relay.sqlite")
      try chaosCluster.power.markSynced()
      return ["relay"]
    }
  }

  func damageAgent(_ fault: Fault) async throws -> [String] {
    let name = fault.victims[0]
    return try await whileDead(name) {
      let folder = chaosCluster.layout.agent(name)
      try SQLiteAgentStore(path: folder.appendingPathComponent("agent.sqlite").path).close()
      guard try Damage.flip(nil, in: folder, "agent.sqlite", fault.seed) else { return [] }
      let message = try await refusal(of: name)
      if !message.contains("problem 503") {
        log.addFinding("\(name) did not report its damaged file: \(message)")
      }
      try Damage.remove(folder, "agent.sqlite")
      let own = devices.filter { $0.agent == name }.map(\.credential.address)
      await observer.forget(own)
      return [name]
    }
  }

  /// Starts the process without its supervisor.
  ///
  /// - Returns: The process's error message; empty if the process keeps running or succeeds.
  private func refusal(of name: String) async throws -> String {
    let (program, arguments, environment) = chaosCluster.process(name).command
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
}
