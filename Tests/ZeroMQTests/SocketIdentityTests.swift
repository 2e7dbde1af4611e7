import Glibc
import Testing

@testable import ZeroMQ

@Suite struct SocketIdentityTests {
  /// Two connected sockets, which the owner closes.
  private func pair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (ends[0], ends[1])
  }

  /// Whether a byte that one end sends arrives at the other one.
  private func isOpen(_ ends: (Int32, Int32)) -> Bool {
    var byte: UInt8 = 7
    let sent = send(ends.0, &byte, 1, Int32(MSG_NOSIGNAL))
    return sent == 1 && recv(ends.1, &byte, 1, 0) == 1
  }

  @Test("O4: a connection above its limits is shut down")
  func present() throws {
    let ends = try pair()
    let identity = try #require(SocketIdentity(of: ends.0))
    #expect(isOpen(ends))
    #expect(identity.shutdown(ends.0))
    #expect(!isOpen(ends))
    close(ends.0)
    close(ends.1)
  }

  @Test("O4: a newer connection with the descriptor of the one above its limits stays open")
  func reused() throws {
    let (former, newer) = (try pair(), try pair())
    let identity = try #require(SocketIdentity(of: former.0))
    // The kernel closes the former socket, and its descriptor names the newer one.
    try #require(dup2(newer.0, former.0) == former.0)
    #expect(SocketIdentity(of: former.0) != identity)
    #expect(!identity.shutdown(former.0))
    #expect(isOpen(newer))
    for descriptor in [former.0, former.1, newer.0, newer.1] { close(descriptor) }
  }

  @Test("O4: a closed descriptor has no connection to shut down")
  func closed() throws {
    let ends = try pair()
    let identity = try #require(SocketIdentity(of: ends.0))
    #expect(SocketIdentity(of: -1) == nil)
    #expect(!identity.shutdown(-1))
    close(ends.0)
    close(ends.1)
  }
}
