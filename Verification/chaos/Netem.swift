import Foundation
import Subprocess

/// Faults of packets by the kernel, in a network namespace of the run.
///
/// The run enters the namespace at its start; it goes with the last process in it.
enum Netem {
  private static let variable = "CHAOS_NAMESPACE"

  /// Whether the run is in a namespace of its own in which `tc netem` works.
  static var isOn: Bool { ProcessInfo.processInfo.environment[variable] != nil }

  /// Goes on in a new namespace, where that is allowed and the kernel has netem; else says why not.
  static func enter() -> String? {
    guard !isOn else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", probe]
    let output = Pipe()
    process.standardOutput = output
    guard (try? process.run()) != nil else { return "no shell" }
    let words = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if let reason = reason(process.terminationStatus, words) { return reason }
    setenv(variable, "1", 1)
    let own = (Bundle.main.executableURL?.path ?? CommandLine.arguments[0])
    let again = reentry(own, Array(CommandLine.arguments.dropFirst()))
    var pointers: [UnsafeMutablePointer<CChar>?] = again.map { strdup($0) } + [nil]
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

  private static func tc(_ words: [String]) async throws {
    _ = try await Subprocess.run(
      .name("tc"), arguments: Arguments(words), output: .discarded, error: .discarded)
  }

  // MARK: command lines

  /// What a shell runs to see whether there is netem; what goes wrong is on its standard output.
  static let probe =
    "unshare -n sh -c 'ip link set lo up && tc qdisc add dev lo root netem delay 1ms' 2>&1"

  /// Why there is no netem here, from how the probe ended; `nil`: there is.
  static func reason(_ status: Int32, _ output: String) -> String? {
    guard status != 0 else { return nil }
    return output.split(separator: "\n").first.map(String.init) ?? "not allowed"
  }

  /// The same program once more, in a new namespace whose loopback interface is up.
  static func reentry(_ program: String, _ arguments: [String]) -> [String] {
    ["unshare", "-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "chaos", program] + arguments
  }

  /// The arguments of `tc` at the fault's beginning and at its end.
  static func commands(_ seed: UInt64) -> (begin: [String], end: [String]) {
    let kinds = ["loss 5%", "delay 30ms 20ms", "duplicate 10%", "delay 10ms reorder 25%"]
    let what = kinds[Int(seed % UInt64(kinds.count))].split(separator: " ").map(String.init)
    return (
      ["qdisc", "replace", "dev", "lo", "root", "netem"] + what,
      ["qdisc", "del", "dev", "lo", "root"]
    )
  }
}
