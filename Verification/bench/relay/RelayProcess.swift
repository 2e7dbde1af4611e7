import ArgumentParser
import Credentials
import FamilyModel
import Foundation
import Logging
import Processes
import RelayServer
import SQLiteStore
import ServiceLifecycle
import ZeroMQ

/// A relay as a process of its own: the program `relay`, or the same service without encryption.
final class RelayProcess {
  let address: RelayAddress
  private let process = Process()

  init(_ folder: URL, isPlain: Bool, maxFamilies: Int = 1_000_000) throws {
    _ = try RelayKeys.create(in: folder)
    let credential = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: folder))
    let keys = try Self.deviceKeys(folder, isPlain)
    address = RelayAddress(
      requests: credential.requests, broadcasts: credential.broadcasts,
      relayKey: isPlain ? nil : credential.relayKey, administrator: credential.keys,
      child: keys.0, guardian: keys.1)
    process.executableURL = try Program(isPlain ? "bench" : "relay").file
    process.arguments =
      (isPlain
        ? ["plain-relay", "--key=\(keys.0.publicKey.z85)"]
        : ["--log-level", "error", "--max-families-in-memory", "\(maxFamilies)"])
      + ["--directory", folder.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    ChildProcesses.add(process.processIdentifier)
    // Prints `ready` when both sockets are bound.
    guard !output.fileHandleForReading.availableData.isEmpty else { throw RelayGone() }
  }

  /// The same keys for every relay of the folder, so that families that were made stay reachable.
  private static func deviceKeys(_ folder: URL, _ isPlain: Bool) throws
    -> (CurveKeyPair, CurveKeyPair)
  {
    let file = folder.appendingPathComponent("devices.txt")
    if let text = try? String(contentsOf: file, encoding: .utf8) {
      let pairs = text.split(separator: "\n").compactMap { CurveKeyPair(secretZ85: String($0)) }
      if pairs.count == 2 { return (pairs[0], pairs[1]) }
    }
    let first = try CurveKeyPair.generate()
    let pairs = (first, isPlain ? first : try CurveKeyPair.generate())
    try Data("\(pairs.0.secretZ85)\n\(pairs.1.secretZ85)\n".utf8).write(to: file)
    return pairs
  }

  /// Seconds of CPU that it has used.
  var cpu: Double { ProcessReading(process.processIdentifier)?.cpuSeconds ?? 0 }

  /// Bytes of memory that are its own.
  var memory: Int {
    let path = "/proc/\(process.processIdentifier)/status"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }

  /// As a kill does it.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// The relay's service without encryption, for `bench relay` only.
struct PlainRelay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plain-relay", abstract: "A relay that encrypts nothing.", shouldDisplay: false)
  @Option var directory: String
  @Option var key: String

  func run() async throws {
    let folder = URL(fileURLWithPath: directory)
    var configuration = RelayService.Configuration(
      requests: RelayKeys.requests(in: folder), broadcasts: RelayKeys.broadcasts(in: folder))
    configuration.plainKey = CurvePublicKey(z85: key)?.bytes
    configuration.maxFamilies = 1_000_000
    let logger = Logger(label: "relay") { _ in SwiftLogNoOpLogHandler() }
    let relay = try RelayService(
      configuration, keys: try RelayKeys.read(from: folder),
      store: try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path),
      logger: logger
    ) {
      FileHandle.standardOutput.write(Data("ready\n".utf8))
    }
    try await ServiceGroup(
      configuration: .init(
        services: [.init(service: relay)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger)
    ).run()
  }
}
