import Glibc
import Testing

@testable import ZeroMQ

@Suite("Poller")
struct PollerTests {
  @Test("reports readable sockets and file descriptors until they are drained")
  func readiness() throws {
    let context = try Context()
    let first = try Socket(.router, in: context)
    let second = try Socket(.router, in: context)
    try first.bind("inproc://first")
    try second.bind("inproc://second")
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { ends.forEach { close($0) } }
    var poller = Poller()
    let one = poller.watch(first)
    let two = poller.watch(second)
    let three = poller.watch(fileDescriptor: ends[0])
    try #expect(poller.wait(within: .zero) == 0)

    let dealer = try Socket(.dealer, in: context)
    try dealer.connect("inproc://second")
    try #expect(dealer.send([[1]]) == .sent)
    #expect(write(ends[1], "x", 1) == 1)
    try #expect(poller.wait(within: timeout) == 2)
    let ready = poller.ready
    #expect(ready == [two, three])

    poller.unwatch(three)
    try #expect(poller.wait(within: timeout) == 1)
    _ = try second.next()
    try #expect(poller.wait(within: .zero) == 0)
    poller.unwatch(one)
    poller.unwatch(one)
  }

  @Test("a muted socket is not reported until it is unmuted")
  func muted() throws {
    let context = try Context()
    let router = try Socket(.router, in: context)
    let dealer = try Socket(.dealer, in: context)
    try router.bind("inproc://muted")
    try dealer.connect("inproc://muted")
    var poller = Poller()
    let token = poller.watch(router)
    poller.mute(token, true)
    try #expect(dealer.send([[1]]) == .sent)
    try #expect(poller.wait(within: .zero) == 0)
    poller.mute(token, false)
    try #expect(poller.wait(within: timeout) == 1)
    poller.unwatch(token)
    poller.mute(token, true)
  }

  @Test("a closed socket is removed")
  func closed() throws {
    let context = try Context()
    var poller = Poller()
    let kept = try Socket(.router, in: context)
    do {
      let gone = try Socket(.router, in: context)
      poller.watch(gone)
      poller.watch(kept)
      try #expect(poller.wait(within: .zero) == 0)
    }
    try #expect(poller.wait(within: .zero) == 0)
    try kept.bind("inproc://kept")
    let dealer = try Socket(.dealer, in: context)
    try dealer.connect("inproc://kept")
    try #expect(dealer.send([[1]]) == .sent)
    try #expect(poller.wait(within: timeout) == 1)
  }
}
