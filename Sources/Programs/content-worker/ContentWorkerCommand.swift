import ArgumentParser
import ContentCheck
import Foundation
import Logging
import ServiceLifecycle

/// The reference worker: flags pictures by a list of hashes.
@main
struct ContentWorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "content-worker", abstract: "Checks pictures against a list of SHA-256 hashes.",
    discussion: """
      Prints `ready` when its socket is bound. SIGTERM and SIGINT end it. \
      Sources/Device/ContentCheck/README.md says how to ask it, and how to use another classifier.
      """)

  @Option(help: "The worker's folder; made with its keys if it is not there.") var directory: String
  @Option(
    help: "The list: one SHA-256 a line in hexadecimal, # begins a comment. Changes are seen.")
  var hashes: String
  @Option(help: "trace, debug, info, notice, warning, error or critical.") var logLevel = "info"

  func validate() throws {
    guard Logger.Level(rawValue: logLevel) != nil else {
      throw ValidationError("--log-level is one of those that --help names.")
    }
  }

  func run() async throws {
    var logger = Logger(label: "content-worker") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    let list = try HashList(URL(fileURLWithPath: hashes)) { [logger] change in
      switch change {
      case .success(let count): logger.notice("the list changed", metadata: ["hashes": "\(count)"])
      case .failure(let error):
        logger.error("the list is not used", metadata: ["reason": "\(error)"])
      }
    }
    let files = try WorkerFiles(in: URL(fileURLWithPath: directory))
    let service = WorkerService(
      worker: try ContentWorker(files, classifier: list), logger: logger)
    let count = await list.count
    logger.info("the list is read", metadata: ["hashes": "\(count)"])
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: service)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger))
    try await group.run()
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
