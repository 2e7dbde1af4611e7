import ArgumentParser
import ContentCheck
import Foundation
import Logging
import PerceptualHash
import PrivateFiles
import ProgramOptions
import ServiceLifecycle

/// The reference worker of the content check: flags pictures by a list of hashes.
@main
struct ContentWorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "content-worker", abstract: "Check pictures against a list of hashes.",
    discussion: """
      Prints `ready` when its socket is bound. SIGTERM and SIGINT end the worker. \
      Sources/Device/ContentCheck/README.md specifies the interface for clients and other classifiers.
      """,
    version: Program.version)

  @Option(help: "Folder of the worker's keys and socket (created if missing).")
  var directory: String
  @Option(
    help: """
      Hash list: one hexadecimal SHA-256 per line, or pdq and a perceptual hash; # begins a comment. \
      Reread after changes.
      """)
  var hashes: String
  @Option(help: "The largest number of bits in which a perceptual hash may differ, 0 to 128.")
  var distance = PDQHash.recommendedDistance
  @Option(help: "Path of content-decoder (default: beside this program).")
  var decoder: String?
  @Option(help: "trace, debug, info, notice, warning, error or critical.") var logLevel = "info"

  func validate() throws {
    guard (0...128).contains(distance) else {
      throw ValidationError("--distance is \(distance); choose 0 to 128.")
    }
    guard Logger.Level(rawValue: logLevel) != nil else {
      throw ValidationError(
        "unknown log level '\(logLevel)'; choose "
          + Logger.Level.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
  }

  func run() async throws {
    ProcessMemory.protect()
    var logger = Logger(label: "content-worker") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    let decoder = PictureDecoder(program: decoderProgram)
    let list = try HashList(URL(fileURLWithPath: hashes), decoder: decoder, distance: distance) {
      [logger] change in
      switch change {
      case .success(let count): logger.notice("reread the list", metadata: ["hashes": "\(count)"])
      case .failure(let error):
        logger.error("rejected the list", metadata: ["reason": "\(error)"])
      }
    }
    if await list.needsDecoder {
      let greeting = try await decoder.start()
      logger.info(
        "decoder",
        metadata: [
          "namespaces": "\(greeting.hasNamespaces)", "landlock": "\(greeting.hasLandlock)",
        ])
    }
    let files = try WorkerFiles(in: URL(fileURLWithPath: directory))
    let service = WorkerService(
      worker: try ContentWorker(files, classifier: list), logger: logger)
    let count = await list.count
    logger.info("read the list", metadata: ["hashes": "\(count)"])
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: service)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger))
    try await group.run()
    await decoder.stop()
  }

  private var decoderProgram: URL {
    if let decoder { return URL(fileURLWithPath: decoder) }
    return DecoderProcess.besideThisProgram
  }
}

private struct WorkerService: Service {
  let worker: ContentWorker
  let logger: Logger

  func run() async throws {
    try await worker.start()
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    try? await gracefulShutdown()
    await worker.stop()
    let counters = await worker.counters
    logger.notice("stopping", metadata: ["counters": "\(counters)"])
  }
}
