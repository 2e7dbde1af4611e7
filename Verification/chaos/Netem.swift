import Foundation
import Subprocess

/// Packet faults by the kernel's netem, in a network namespace of the run.
///
/// The run enters the namespace at its start. The kernel removes the namespace after its last
/// process.
enum Netem {
  private static let variable = "CHAOS_NAMESPACE"

  /// Whether the run is in its own namespace with a working `tc netem`.
  static var isOn: Bool { ProcessInfo.processInfo.environment[variable] != nil }

  /// Restarts the program in a new namespace, if permitted and supported by the kernel.
  ///
  /// - Returns: The reason if this is not possible.
  static func enter() -> String? {
    guard !isOn else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", probe]
    let output = Pipe()
    process.standardOutput = output
    guard (try? process.run()) != nil else { return "no shell" }
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if let reason = reason(process.terminationStatus, text) { return reason }
    setenv(variable, "1", 1)
    let own = (Bundle.main.executableURL?.path ?? CommandLine.arguments[0])
    let command = reentry(own, Array(CommandLine.arguments.dropFirst()))
    var pointers: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    execvp("unshare", &pointers)
    unsetenv(variable)
    return "exec failed"
  }

  static func run(_ fault: Fault) async throws -> [String] {
    guard isOn else { return [] }
    let (begin, end) = commands(fault.seed)
    try await tc(begin)
    try? await Task.sleep(for: .seconds(fault.lasts))
    try await tc(end)
    return fault.victims
  }

  private static func tc(_ arguments: [String]) async throws {
    _ = try await Subprocess.run(
      .name("tc"), arguments: Arguments(arguments), output: .discarded, error: .discarded)
  }

  // MARK: command lines

  /// The shell command that tests for netem. Its output states an error.
  static let probe =
    "unshare -n sh -c 'ip link set lo up && tc qdisc add dev lo root netem delay 1ms' 2>&1"

  /// Why netem is not available, from the probe's status and output; `nil` if it is.
  static func reason(_ status: Int32, _ output: String) -> String? {
    guard status != 0 else { return nil }
    return output.split(separator: "\n").first.map(String.init) ?? "not allowed"
  }

  /// The command that restarts the program in a new namespace with a loopback interface.
  static func reentry(_ program: String, _ arguments: [String]) -> [String] {
    ["unshare", "-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "chaos", program] + arguments
  }

  /// The arguments of `tc` that begin and end the fault.
  static func commands(_ seed: UInt64) -> (begin: [String], end: [String]) {
    let kinds = ["loss 5%", "delay 30ms 20ms", "duplicate 10%", "delay 10ms reorder 25%"]
    let options = kinds[Int(seed % UInt64(kinds.count))].split(separator: " ").map(String.init)
    return (
      ["qdisc", "replace", "dev", "lo", "root", "netem"] + options,
      ["qdisc", "del", "dev", "lo", "root"]
    )
  }
}
