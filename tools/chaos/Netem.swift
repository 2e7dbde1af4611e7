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
    let probe = "ip link set lo up && tc qdisc add dev lo root netem delay 1ms"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "unshare -n sh -c '\(probe)' 2>&1"]
    let output = Pipe()
    process.standardOutput = output
    guard (try? process.run()) != nil else { return "no shell" }
    let words = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      return words.split(separator: "\n").first.map(String.init) ?? "not allowed"
    }
    setenv(variable, "1", 1)
    let own = (Bundle.main.executableURL?.path ?? CommandLine.arguments[0])
    let command =
      ["unshare", "-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "chaos", own]
      + CommandLine.arguments.dropFirst()
    var words2: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    execvp("unshare", &words2)
    unsetenv(variable)
    return "exec failed"
  }

  static func run(_ fault: Fault) async throws -> [String] {
    guard isOn else { return [] }
    let what = ["loss 5%", "delay 30ms 20ms", "duplicate 10%", "delay 10ms reorder 25%"]
    try await tc("replace dev lo root netem \(what[Int(fault.seed % 4)])")
    try? await Task.sleep(for: .seconds(fault.lasts))
    try await tc("del dev lo root")
    return fault.victims
  }

  private static func tc(_ words: String) async throws {
    _ = try await Subprocess.run(
      .name("tc"), arguments: Arguments(["qdisc"] + words.split(separator: " ").map(String.init)),
      output: .discarded, error: .discarded)
  }
}
