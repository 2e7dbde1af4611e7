import ArgumentParser
import ContentCheck
import FamilyModel
import Foundation
import Processes
import SensitiveContentAnalysis
import Statistics
import TextTable
import ZeroMQ

/// Measures the check of a live call's frames: the copy in the app, and the verdict of a worker's process.
struct ContentBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "content",
    abstract: "Measure the copies of frames and the verdicts of content-worker, in milliseconds.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "Frames of each measurement.") var frames = 300
  @Option(help: "Perceptual hashes on the worker's list.") var hashes = 10_000
  @Option(help: "Frames a second of the paced measurement.") var rate = 30

  func validate() throws {
    guard frames >= 1, hashes >= 1, rate >= 1 else {
      throw ValidationError("--frames, --hashes and --rate are 1 or more.")
    }
  }

  private static func milliseconds(since start: MonotonicInstant) -> Double {
    (MonotonicInstant.now - start).seconds * 1e3
  }

  func run() async throws {
    var table = [["step", "median", "99 of 100"]]
    func add(_ step: String, _ times: [Double]) {
      table.append(
        [step] + [0.5, 0.99].map { String(format: "%.2f", times.quantile($0) ?? .nan) })
    }
    let bytes = (0..<1_280 * 720 * 4).map { UInt8(truncatingIfNeeded: $0 / 31 ^ $0 / 5_120) }
    for (name, format) in [("nv12", SCPixelLayout.Format.nv12), ("bgra", .bgra)] {
      let layout = SCPixelLayout(format, width: 1_280, height: 720)
      add(
        "copy a frame of 1,280 by 720, \(name)",
        measure { _ = SmallFrame(bytes.span.bytes, layout) })
    }
    let layout = SCPixelLayout(.bgra, width: 1_280, height: 720)
    guard let copy = SmallFrame(bytes.span.bytes, layout) else { throw ExitCode.failure }
    add("encode the copy as PNG", measure { _ = copy.picture })
    let run = try RunFolder("/tmp/pr-bench-\(getpid())")
    defer { run.remove() }
    let worker = try worker(in: run.url)
    defer { worker.terminate() }
    let client = try ContentClient(directory: run.url)
    let picture = copy.picture
    while await client.verdict(on: picture) != .clean {}
    add("verdict, one frame after the other", try await verdicts(client, picture, every: .zero))
    let pause = Duration.seconds(1) / rate
    add("verdict, \(rate) frames a second", try await verdicts(client, picture, every: pause))
    await client.stop()
    print(Table.render(table))
    print(
      "The worker's list has \(hashes) perceptual hashes. The hop through the device is not included."
    )
  }

  private func measure(_ body: () -> Void) -> [Double] {
    (0..<frames).map { _ in
      let start = MonotonicInstant.now
      body()
      return Self.milliseconds(since: start)
    }
  }

  private func verdicts(
    _ client: ContentClient, _ picture: Avatar, every pause: Duration
  ) async throws -> [Double] {
    var times: [Double] = []
    for _ in 0..<frames {
      let start = MonotonicInstant.now
      guard await client.verdict(on: picture) == .clean else {
        throw CleanExit.message("A frame had no verdict within three seconds.")
      }
      times.append(Self.milliseconds(since: start))
      let rest = pause - .milliseconds(times.last ?? 0)
      if rest > .zero { try await Task.sleep(for: rest) }
    }
    return times
  }

  /// A worker's process whose list has random hashes.
  private func worker(in folder: URL) throws -> Process {
    let list = folder.appendingPathComponent("list")
    let lines = (0..<hashes).map { _ in
      "pdq " + (0..<4).map { _ in String(format: "%016lx", UInt.random(in: 0...UInt.max)) }.joined()
    }
    try lines.joined(separator: "\n").write(to: list, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = try Program("content-worker").file
    process.arguments = ["--directory", folder.path, "--hashes", list.path, "--log-level", "error"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    ChildProcesses.add(process.processIdentifier, endedBy: SIGTERM)
    _ = output.fileHandleForReading.availableData
    return process
  }
}
