import Foundation
import Testing

@testable import ZeroMQ

/// The timeout of every wait in these tests.
let timeout = Nanoseconds.seconds(60)

struct TimedOut: Error {}

/// Repeats `body` until the result is `true`. Throws `TimedOut` after ``timeout``.
func eventually(_ body: () throws -> Bool) throws {
  let end = MonotonicInstant.now + timeout
  while try !body() {
    guard MonotonicInstant.now < end else { throw TimedOut() }
    usleep(500)
  }
}

/// Repeats `body` as above without blocking a thread of the pool.
func eventually(_ body: () async throws -> Bool) async throws {
  let end = MonotonicInstant.now + timeout
  while try await !body() {
    guard MonotonicInstant.now < end else { throw TimedOut() }
    try await Task.sleep(nanoseconds: 500_000)
  }
}

extension Monitor {
  /// Waits for an event.
  mutating func wait(for kind: MonitorEvent.Kind) throws {
    var isSeen = false
    let end = MonotonicInstant.now + timeout
    while !isSeen {
      guard MonotonicInstant.now < end else { throw TimedOut() }
      _ = try socket.waitUntilReadable(within: .milliseconds(20))
      _ = try drain { event in isSeen = isSeen || event.kind == kind }
    }
  }
}

extension Socket {
  /// Waits for the next message.
  func next() throws -> [[UInt8]] {
    guard try waitUntilReadable(within: timeout), let message = try receive()
    else {
      throw TimedOut()
    }
    return message.allBytes
  }

  /// Whether no message is queued.
  func isSilent() throws(ZeroMQError) -> Bool {
    let message = try receive()
    return message == nil
  }

  /// Binds to a free port.
  func bindToFreePort() throws -> String {
    try bind("tcp://127.0.0.1:*")
    return try lastEndpoint()
  }
}

/// Expects that the body throws an error with this code.
func expect(
  _ code: ZeroMQError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: ZeroMQError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == code, sourceLocation: sourceLocation)
}

extension String {
  /// The text's bytes in UTF-8.
  var bytes: [UInt8] { Array(utf8) }
}

/// Writes bytes to a port over plain TCP. Returns once the server has closed the connection or sent
/// nothing for 50 ms.
///
/// - Parameter untilClosed: `false` to return after the server's first bytes.
func sendRaw(_ bytes: [UInt8], to endpoint: String, untilClosed: Bool = true) throws {
  let port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var timeout = timeval(tv_sec: 0, tv_usec: 50_000)
  setsockopt(
    descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  let size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let result = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
  }
  try #require(result == 0)
  _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  var answer = [UInt8](repeating: 0, count: 256)
  while recv(descriptor, &answer, answer.count, 0) > 0 && untilClosed {}
}
