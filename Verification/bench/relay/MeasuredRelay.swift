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

/// The relay under measurement: the program `relay`, or the same service without encryption.
struct MeasuredRelay {
  let address: RelayAddress
  let process: RelayProcess

  init(_ folder: URL, isPlain: Bool, maxFamilies: Int = 1_000_000) throws {
    _ = try RelayKeys.create(in: folder)
    let credential = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: folder))
    let keys = try Self.deviceKeys(folder, isPlain)
    address = RelayAddress(
      requests: credential.requests, broadcasts: credential.broadcasts,
      relayKey: isPlain ? nil : credential.relayKey, administrator: credential.keys,
      child: keys.0, guardian: keys.1)
    process =
      isPlain
      ? try RelayProcess(
        program: "bench",
        arguments: ["plain-relay", "--key=\(keys.0.publicKey.z85)", "--directory", folder.path])
      : try RelayProcess(folder, maxFamilies: maxFamilies)
  }

  /// Reads the device keys of the folder, or creates them. A restarted relay serves the same
  /// devices.
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
}

/// Runs the relay's service without encryption, for `bench relay` only.
struct PlainRelay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plain-relay", abstract: "Run a relay without encryption.", shouldDisplay: false)
  @Option var directory: String
  @Option var key: String

  func run() async throws {
    let folder = URL(fileURLWithPath: directory)
    var configuration = RelayService.Configuration(
      requests: RelayKeys.requests(in: folder), broadcasts: RelayKeys.broadcasts(in: folder))
    configuration.pipeline.plainKey = CurvePublicKey(z85: key)?.bytes
    configuration.pipeline.maxFamilies = 1_000_000
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
