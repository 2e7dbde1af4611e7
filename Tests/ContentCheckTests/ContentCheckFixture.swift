import ContentCheck
import Crypto
import FamilyModel
import Foundation
import Testing
import ZeroMQ

/// A timeout for a machine that runs many tests at a time. No passing test reaches the timeout.
let patience = Duration.seconds(600)

/// Whether the condition becomes true within `patience`.
func eventually(_ body: () async -> Bool) async -> Bool {
  let end = ContinuousClock.now + patience
  while ContinuousClock.now < end { if await body() { return true } }
  return false
}

/// A valid picture of one pixel. The bytes after its end make each number a different picture.
func picture(_ number: UInt8, bytes: Int = 0) -> Avatar {
  var png: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1,
    0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55, 0, 0, 0, 10, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9C, 0x63, 0xF8, 0x0F, 0, 1, 1, 1, 0, 0xB1, 0x38, 0xF6, 0x14, 0, 0, 0, 0, 0x49, 0x45, 0x4E,
    0x44, 0xAE, 0x42, 0x60, 0x82, number,
  ]
  png += [UInt8](repeating: 0, count: max(bytes - png.count, 0))
  return Avatar(mediaType: "image/png", bytes: png)
}

/// The line of a hash list that flags the picture.
func line(_ picture: Avatar) -> String {
  SHA256.hash(data: picture.bytes).map { String(format: "%02x", $0) }.joined() + "\n"
}

/// A temporary folder, removed with the value.
final class Folder: Sendable {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent(
    "cc-\(UUID().uuidString.prefix(8))")

  init() throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var list: URL { url.appendingPathComponent("hashes.txt") }

  func write(_ list: String) throws {
    try Data(list.utf8).write(to: self.list, options: .atomic)
  }
}

/// A worker in this process.
struct ContentCheckFixture {
  let folder: Folder
  let worker: ContentWorker
  let client: ContentClient

  init(
    list: String = "", classifier: (any Classifier)? = nil,
    timeout: Duration = .seconds(600)
  ) async throws {
    folder = try Folder()
    try folder.write(list)
    worker = try ContentWorker(
      try WorkerFiles(in: folder.url), classifier: try classifier ?? HashList(folder.list))
    try await worker.start()
    client = try ContentClient(directory: folder.url, timeout: timeout)
  }

  func stop() async {
    await client.stop()
    await worker.stop()
  }

  /// A socket of another program.
  func socket(_ kind: SocketKind) throws -> Socket {
    let address = try WorkerAddress.read(from: folder.url)
    var options = SocketOptions()
    let key = try #require(CurvePublicKey(z85: address.publicKey))
    options.security = .client(try .generate(), server: key)
    let socket = try Socket(kind, in: try Context(), options: options)
    try socket.connect(address.endpoint)
    return socket
  }
}

extension Socket {
  /// The reply to these frames. Polls with sleeps, because classifiers run on the same thread pool.
  func ask(_ frames: [[UInt8]]) async throws -> [[UInt8]] {
    #expect(try send(frames) == .sent)
    return try #require(try await next(within: patience))
  }

  /// The next message; `nil` after `time`.
  func next(within time: Duration) async throws -> [[UInt8]]? {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {
      if let message = try receive() { return message.allBytes }
      try await Task.sleep(for: .milliseconds(1))
    }
    return nil
  }
}

/// The worker as a separate process.
final class WorkerProcess: @unchecked Sendable {
  private let process = Process()

  init(_ folder: Folder, _ options: [String] = []) throws {
    // SwiftPM builds the programs beside the test bundle.
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appendingPathComponent("content-worker")
    process.arguments =
      [
        "--directory", folder.url.path, "--hashes", folder.list.path, "--log-level", "error",
      ] + options
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    try #require(text == "ready\n")
  }

  func signal(_ number: Int32) { Foundation.kill(process.processIdentifier, number) }

  /// Ends the process with a signal; returns the exit status or the signal.
  @discardableResult
  func end(_ number: Int32 = SIGKILL) -> Int32 {
    signal(number)
    signal(SIGCONT)
    process.waitUntilExit()
    return process.terminationStatus
  }
}
