import Credentials
import FamilyModel
import Foundation
import RelayFixture
import RelayWire
import Testing
import ZeroMQ

/// Hostile clients of a relay process whose memory has a total. The peak of the resident memory is the
/// kernel's own.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MemoryTotalTests {
  /// The total, `--memory-limit`.
  private static let limit = 512 << 20
  private static let floodTime = Nanoseconds.seconds(4)
  private static let flooders = 8

  /// The bytes that a flooder sends again and again.
  enum Flood: CaseIterable {
    case largeRequests
    case manyParts

    var parts: Int { self == .largeRequests ? 1 : 24 }
  }

  @Test(
    "O4: the process stays below its total while clients flood it, and serves others",
    arguments: Flood.allCases, [false, true])
  func total(_ flood: Flood, overTCP: Bool) throws {
    let relay = try FloodedRelay(overTCP: overTCP, limit: Self.limit)
    defer { relay.stop() }
    let honest = try relay.client()
    #expect(try relay.isAnswered(honest))
    let flooders = try (0..<Self.flooders).map { _ in
      let flooder = try relay.client()
      // The socket is never closed: libzmq 4.3.4 aborts when a socket is closed while a message of
      // several parts is half sent.
      _ = Unmanaged.passRetained(flooder)
      return flooder
    }
    // The frames share their bytes, so this process holds one copy.
    let part = [UInt8](repeating: 7, count: Limits.frameBytes - 1_024)
    let message = Multipart(
      [[]] + Array(repeating: part, count: flood.parts), maximumParts: flood.parts + 1)
    let end = MonotonicInstant.now + Self.floodTime
    // On a busy machine the first answer may take longer than the flood.
    let patience = end + .seconds(60)
    var answers = 0
    while MonotonicInstant.now < (answers == 0 ? patience : end) {
      var isFull = true
      for flooder in flooders where try flooder.socket.send(message) == .sent { isFull = false }
      if isFull { usleep(500) }
      if try relay.isAnswered(honest, within: .milliseconds(1)) { answers += 1 }
    }
    #expect(relay.isRunning)
    #expect(relay.peakBytes < Self.limit, "\(relay.peakBytes >> 20) MB")
    #expect(answers > 0)
    let later = try relay.client()
    #expect(try relay.isAnswered(later))
  }
}

/// A socket that a test may keep open for ever.
private final class Client {
  let socket: Socket
  /// Whether a ping has no answer yet.
  var isWaiting = false

  init(_ socket: consuming Socket) { self.socket = socket }
}

/// A relay as a process of its own.
private final class FloodedRelay {
  private let process = Process()
  private let folder = RelayFixture.newFolder()
  private let keys: RelayKeys
  private let requests: String

  init(overTCP: Bool, limit: Int) throws {
    requests = try overTCP ? Self.freeEndpoint() : RelayKeys.requests(in: folder)
    let broadcasts = try overTCP ? Self.freeEndpoint() : RelayKeys.broadcasts(in: folder)
    keys = try RelayKeys.create(in: folder, requests: requests, broadcasts: broadcasts)
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

  private static func freeEndpoint() throws -> String {
    let socket = try Socket(.dealer, in: try Context())
    try socket.bind("tcp://127.0.0.1:*")
    return try socket.lastEndpoint()
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
