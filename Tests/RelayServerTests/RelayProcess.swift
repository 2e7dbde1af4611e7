import Credentials
import FamilyModel
import Foundation
import RelayFixture
import RelayOperation
import RelayWire
import Testing
import ZeroMQ

/// A socket that a test may keep open for ever.
final class Client {
  let socket: Socket
  /// Whether a ping has no answer yet.
  fileprivate var isWaiting = false

  init(_ socket: consuming Socket) { self.socket = socket }
}

/// A relay as a process of its own, whose memory has a total.
final class RelayProcess: RelayUnderTest {
  private let process = Process()
  private let folder = RelayFixture.newFolder()
  let keys: RelayKeys
  let administrator: AdministratorCredential
  let requests: String
  let broadcasts: String

  /// - Parameter limit: The total, `--memory-limit`.
  init(overTCP: Bool, limit: Int) throws {
    requests = try overTCP ? RelayFixture.freeEndpoint() : RelayKeys.requests(in: folder)
    broadcasts = try overTCP ? RelayFixture.freeEndpoint() : RelayKeys.broadcasts(in: folder)
    keys = try RelayKeys.create(in: folder, requests: requests, broadcasts: broadcasts)
    administrator = try AdministratorCredential.read(from: AdministratorCredential.file(in: folder))
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appendingPathComponent("relay")
    process.arguments = [
      "--directory", folder.path, "--memory-limit", "\(limit >> 20)", "--log-level", "error",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    try #require(!output.fileHandleForReading.availableData.isEmpty, "the relay did not start")
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  var isRunning: Bool { process.isRunning }

  /// The highest resident memory so far.
  var peakBytes: Int {
    let file = "/proc/\(process.processIdentifier)/status"
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return kilobytes.map { $0 << 10 } ?? .max
  }

  func statistics() throws -> RelayStatistics {
    try OperatorClient(directory: folder).statistics()
  }

  /// A stranger with a key of its own.
  func client() throws -> Client {
    var options = SocketOptions()
    options.sendHighWaterMark = 4
    options.security = .client(try .generate(), server: keys.keys.publicKey)
    let socket = try Socket(.dealer, in: try Context(), options: options)
    try socket.connect(requests)
    return Client(socket)
  }

  /// Whether the relay answers the client's ping, which is sent if none waits for its answer.
  func isAnswered(_ client: Client, within time: Nanoseconds = patience) throws -> Bool {
    if !client.isWaiting {
      let address = DeviceAddress(family: FamilyID(1), device: DeviceID(1))
      let ping = Envelope(device: address, requestID: 1, request: .ping).encode()
      guard try client.socket.send([[], ping]) == .sent else { return false }
      client.isWaiting = true
    }
    guard try client.socket.waitUntilReadable(within: time) else { return false }
    client.isWaiting = false
    return try client.socket.receive() != nil
  }
}
