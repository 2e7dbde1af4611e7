import Foundation
import Testing

/// A server at a unix socket that does not speak ZeroMQ.
struct Stranger {
  private let descriptor: Int32
  private let path: String

  init(at path: String) throws {
    self.path = path
    unlink(path)
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    try #require(result == 0 && listen(descriptor, 1) == 0)
  }

  /// Accepts peers and stays silent for `time` after the first one, then closes all sockets.
  ///
  /// - Returns: The number of peers.
  func acceptSilently(for time: Duration) -> Int {
    var peers = [accept(descriptor, nil, nil)]
    let deadline = ContinuousClock.now + time
    while ContinuousClock.now < deadline {
      var listener = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&listener, 1, 50) > 0 { peers.append(accept(descriptor, nil, nil)) }
    }
    for peer in peers { close(peer) }
    close(descriptor)
    unlink(path)
    return peers.count
  }

  /// Accepts one peer, sends bytes that are not ZeroMQ, and closes the socket.
  func answerOnce() {
    let peer = accept(descriptor, nil, nil)
    let words = Array(String(repeating: "This is no ZeroMQ. ", count: 8).utf8)
    _ = write(peer, words, words.count)
    usleep(100_000)
    close(peer)
    close(descriptor)
    unlink(path)
  }
}
