import AppClient
import Crypto
import DeviceConnection
import Foundation
import ProcessCluster
import Testing

@testable import SensitiveContentAnalysis

/// A call and pictures of an app, while the real processes behind them are killed.
@Suite(.serialized, .timeLimit(.minutes(20))) struct CallKillTests {
  @Test("S2, S4, X2: SIGKILL of worker, device and relay at each step shows nothing unchecked")
  func kills() async throws {
    let folder = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    let layout = Layout(folder)
    let hashes = layout.scripts.appendingPathComponent("hashes.txt")
    var configuration = RunningCluster.Configuration()
    // The test is the app.
    configuration.apps[0].program = "/bin/true"
    configuration.agentArguments = ["--content-worker", layout.agent(CheckedCall.worker).path]
    configuration.extraProcesses = [
      RunningCluster.ExtraProcess(
        name: CheckedCall.worker, program: Layout.program(CheckedCall.worker),
        arguments: [
          "--directory", layout.agent(CheckedCall.worker).path, "--hashes", hashes.path,
        ])
    ]
    configuration.prepareAgents = { try Data("\(CheckedCall.listedHash)\n".utf8).write(to: hashes) }
    let cluster = try RunningCluster(layout, .example(1), configuration)
    try await cluster.stopping {
      try await cluster.start()
      try await cluster.relayctl([
        "communication-safety", "descriptive", "--child", "Emily", "--as",
        layout.credential(1, "Rosa").path,
      ])
      let credential = try JSONDecoder().decode(
        AppCredential.self, from: Data(contentsOf: layout.appCredential(family: 1, device: 3)))
      var timing = SessionTiming()
      timing.deviceSilence = .seconds(3)
      timing.devicePing = .milliseconds(200)
      let session = try AppSession.session(of: credential, timing: timing)
      let running = Task { await session.run() }
      try await AppSession.$override.withValue(session) {
        await session.requestSafety()
        try await cluster.wait("the setting") { session.safety == .descriptive }
        try await CheckedCall(cluster: cluster).cleanCall()
        for process in [CheckedCall.worker, AgentName.child(of: 1), cluster.relay.name] {
          try await CheckedCall(cluster: cluster).listedCall(killing: process)
        }
      }
      running.cancel()
      await session.close()
    }
    // After a failure the folder stays, because the error names its logs.
    try FileManager.default.removeItem(atPath: folder)
  }
}

/// A call of Emily's app, and the processes that check its frames.
private struct CheckedCall {
  static let worker = "content-worker"
  private static let (clean, listed) = (frame(100), frame(200))
  private static let layout = SCPixelLayout(.rgb, width: 64, height: 64)

  let cluster: RunningCluster
  let stream: SCVideoStreamAnalyzer

  init(cluster: RunningCluster) throws {
    self.cluster = cluster
    stream = try SCVideoStreamAnalyzer(participantUUID: "ben", streamDirection: .incoming)
  }

  private static func frame(_ brightness: UInt8) -> [UInt8] {
    [UInt8](repeating: brightness, count: 3 * 64 * 64)
  }

  /// The picture that the worker receives for a frame.
  private static func picture(_ frame: [UInt8]) -> Data {
    Data(SmallFrame(frame.span.bytes, layout)!.png)
  }

  /// The entry of the worker's list for the listed frame.
  static var listedHash: String {
    SHA256.hash(data: picture(listed)).map { String(format: "%02x", $0) }.joined()
  }

  /// Kills each process while the frames are clean.
  func cleanCall() async throws {
    try await show(Self.clean, "a clean call") { !$0.shouldInterruptVideo }
    for name in [Self.worker, AgentName.child(of: 1)] {
      try await kill(name) {
        try await show(Self.clean, "a call without \(name)") {
          $0.shouldInterruptVideo && $0.shouldMuteAudio && !$0.isSensitive
        }
        await #expect(throws: DeviceProblem.self) { _ = try await isSensitive(Self.clean) }
      }
      try await show(Self.clean, "\(name) is back") { !$0.shouldInterruptVideo }
    }
    // The check needs no relay: a new call is shown without it.
    try await kill(cluster.relay.name) {
      try await cluster.wait("a picture without relay") {
        (try? await isSensitive(Self.clean)) == false
      }
      try await CheckedCall(cluster: cluster).show(Self.clean, "a call without relay") {
        !$0.shouldInterruptVideo
      }
    }
    stream.endAnalysis()
  }

  /// Kills the process after a listed frame, while a listed picture is checked.
  func listedCall(killing name: String) async throws {
    try await show(Self.listed, "a listed frame") { $0.isSensitive && $0.shouldInterruptVideo }
    async let verdict = isSensitive(Self.listed)
    try await kill(name) {
      // The old call stays interrupted, and a new one is not shown.
      let call = try CheckedCall(cluster: cluster)
      try await call.show(Self.listed, "\(name) is killed") { $0.shouldInterruptVideo }
      #expect(stream.analysis?.isSensitive == true)
    }
    // No answer is not a clean one.
    do {
      let isSensitive = try await verdict
      #expect(isSensitive)
    } catch let problem as DeviceProblem {
      #expect([420, 462, 463].contains(problem.number))
    }
    try await cluster.wait("the listed picture") { (try? await isSensitive(Self.listed)) == true }
    #expect(stream.analysis?.isSensitive == true)
    // The verdict on an earlier frame may interrupt the stream again.
    try await show(Self.clean, "the child continues") { analysis in
      stream.continueStream()
      return !analysis.shouldInterruptVideo
    }
    stream.endAnalysis()
  }

  private func isSensitive(_ frame: [UInt8]) async throws -> Bool {
    try await SCSensitivityAnalyzer().analyzeImage(Self.picture(frame)).isSensitive
  }

  /// Shows the frame again and again, until the guidance fulfils the condition.
  private func show(
    _ frame: [UInt8], _ what: String, _ condition: (SCSensitivityAnalysis) -> Bool
  ) async throws {
    try await cluster.wait(what) {
      stream.analyze(frame.span.bytes, layout: Self.layout)
      return stream.analysis.map(condition) ?? false
    }
  }

  /// Kills the process, calls the body, and lets the process start again.
  private func kill(_ name: String, _ body: () async throws -> Void) async throws {
    let process = name == cluster.relay.name ? cluster.relay : cluster.agent(name)
    process.holdRestart()
    defer { process.releaseRestart() }
    process.signal(SIGKILL)
    try await cluster.wait("the end of \(name)") { process.isDown }
    try await body()
  }
}
