import ArgumentParser
import ContentCheck
import Foundation
import Logging
import PerceptualHash
import PrivateFiles
import ProgramOptions
import ServiceLifecycle

/// The reference worker of the content check: flags pictures by a list of hashes and by a program.
@main
struct ContentWorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "content-worker",
    abstract: "Check pictures against a list of hashes, or with a model.",
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
  var hashes: String?
  @Option(
    help: """
      A program that classifies pictures, such as the one that \
      Sources/Programs/onnx-classifier/prepare makes of an ONNX model.
      """)
  var classifier: String?
  @Option(help: "The largest number of bits in which a perceptual hash may differ, 0 to 128.")
  var distance = PDQHash.recommendedDistance
  @Option(help: "Path of content-decoder (default: beside this program).")
  var decoder: String?
  @Option(help: "trace, debug, info, notice, warning, error or critical.") var logLevel = "info"

  func validate() throws {
    guard hashes != nil || classifier != nil else {
      throw ValidationError("Choose --hashes, --classifier or both.")
    }
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
    let program = classifier.map { ClassifierProgram(program: URL(fileURLWithPath: $0)) }
    var classifiers: [any Classifier] = []
    if let list = try await readList(decoder, logger) { classifiers.append(list) }
    if let program {
      log(try await program.start(), of: "classifier", logger)
      classifiers.append(program)
    }
    let files = try WorkerFiles(in: URL(fileURLWithPath: directory))
    let service = WorkerService(
      worker: try ContentWorker(files, classifier: Classifiers(classifiers)), logger: logger)
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: service)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger))
    try await group.run()
    await decoder.stop()
    await program?.stop()
  }

  /// The list of hashes, if there is one.
  private func readList(_ decoder: PictureDecoder, _ logger: Logger) async throws -> HashList? {
    guard let hashes else { return nil }
    let list = try HashList(URL(fileURLWithPath: hashes), decoder: decoder, distance: distance) {
      change in
      switch change {
      case .success(let count): logger.notice("reread the list", metadata: ["hashes": "\(count)"])
      case .failure(let error):
        logger.error("rejected the list", metadata: ["reason": "\(error)"])
      }
    }
    if await list.needsDecoder { log(try await decoder.start(), of: "decoder", logger) }
    let count = await list.count
    logger.info("read the list", metadata: ["hashes": "\(count)"])
    return list
  }

  private func log(_ greeting: DecoderGreeting, of process: String, _ logger: Logger) {
    logger.info(
      "\(process)",
      metadata: [
        "namespaces": "\(greeting.hasNamespaces)", "landlock": "\(greeting.hasLandlock)",
      ])
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
