import ArgumentParser
import Foundation
import ProcessCluster
import Synchronization

extension Cluster {
  /// Runs a command while a cluster runs, such as an app's tests.
  struct Exec: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Start a relay and a family, run a command, and stop both.",
      usage: "cluster exec [--app <identifier>=<program>] [--family <file>] -- <command> …",
      discussion: """
        The command's environment has PERMISSION_RELAY_DEVICE, the credential of the first app on \
        the first device. The exit code is the command's.
        """)
    @OptionGroup var options: ClusterOptions
    @OptionGroup var family: FamilyOptions
    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
      guard !command.isEmpty else {
        throw ValidationError("Give a command after --, for example: cluster exec -- swift test")
      }
    }

    func run() async throws {
      let cluster = try await family.cluster(in: options.directory, families: 1)
      let code = ExitStatus()
      try await cluster.stopping { [command] in
        try await cluster.start()
        code.value = try await Self.run(command, device: cluster.appCredentials.first)
      }
      if code.value != 0 { throw ExitCode(code.value) }
    }

    /// Runs the command with this process's input and output.
    ///
    /// - Returns: The exit code; 128 and the signal's number after a signal.
    private static func run(_ command: [String], device: String?) async throws -> Int32 {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = command
      process.environment = ProcessInfo.processInfo.environment
        .merging(device.map { ["PERMISSION_RELAY_DEVICE": $0] } ?? [:]) { $1 }
      return try await withCheckedThrowingContinuation { continuation in
        process.terminationHandler = { ended in
          let isSignal = ended.terminationReason == .uncaughtSignal
          continuation.resume(
            returning: isSignal ? 128 + ended.terminationStatus : ended.terminationStatus)
        }
        do { try process.run() } catch { continuation.resume(throwing: error) }
      }
    }
  }
}

/// The exit code of the command, which one task sets and another reads afterwards.
private final class ExitStatus: Sendable {
  private let code = Mutex<Int32>(1)
  var value: Int32 {
    get { code.withLock { $0 } }
    set { code.withLock { $0 = newValue } }
  }
}
