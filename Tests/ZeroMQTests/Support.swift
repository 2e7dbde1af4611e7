import Foundation
import Testing

@testable import ZeroMQ

/// Nothing in these tests may take longer, in milliseconds.
let patience = 60_000

struct TookTooLong: Error {}

/// Repeats `body` until it is true; fails the test when patience is at its end.
func eventually(_ body: () throws -> Bool) throws {
  let end = Monotonic.now() + UInt64(patience) * 1_000_000
  while try !body() {
    guard Monotonic.now() < end else { throw TookTooLong() }
    usleep(500)
  }
}

/// The same without blocking a thread of the pool.
func eventually(_ body: () async throws -> Bool) async throws {
  let end = Monotonic.now() + UInt64(patience) * 1_000_000
  while try await !body() {
    guard Monotonic.now() < end else { throw TookTooLong() }
    try await Task.sleep(nanoseconds: 500_000)
  }
}

extension Socket {
  /// The next message, for which it waits.
  func next() throws -> [[UInt8]] {
    guard try waitUntilReadable(milliseconds: patience), let message = try receive() else {
      throw TookTooLong()
    }
    return message.allBytes
  }

  /// Whether no message waits.
  func isSilent() throws(ZeroMQError) -> Bool {
    let message = try receive()
    return message == nil
  }

  /// Binds to a free port.
  func bindAnywhere() throws -> String {
    try bind("tcp://127.0.0.1:*")
    return try lastEndpoint()
  }
}

/// Expects a failure of one code.
func expect(
  _ code: ZeroMQError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: ZeroMQError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == code, sourceLocation: sourceLocation)
}

extension String {
  /// The bytes of a text.
  var bytes: [UInt8] { Array(utf8) }
}

/// Writes bytes to a port by plain TCP and returns once the other side has hung up or is silent.
func talk(_ bytes: [UInt8], to endpoint: String) throws {
  let port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var patience = timeval(tv_sec: 0, tv_usec: 50_000)
  setsockopt(
    descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
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
  while recv(descriptor, &answer, answer.count, 0) > 0 {}
}
