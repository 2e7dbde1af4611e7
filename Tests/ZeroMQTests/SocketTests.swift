import Foundation
import Testing

@testable import ZeroMQ

@Suite("Socket")
struct SocketTests {
  let context: Context

  init() throws {
    context = try Context()
  }

  @Test("carries several parts, including empty ones, over tcp, ipc and inproc")
  func multipart() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    for endpoint in ["tcp://127.0.0.1:*", "ipc://\(directory.path)/x", "inproc://x"] {
      let router = try Socket(.router, in: context)
      try router.bind(endpoint)
      let dealer = try Socket(.dealer, in: context)
      try dealer.connect(router.lastEndpoint())
      let body = [UInt8](repeating: 1, count: 300)
      try #expect(dealer.send([[], body, []]) == .sent)
      let received = try router.next()
      #expect(received.dropFirst() == [[], body, []])
      try #expect(router.send([received[0], [], body]) == .sent)
      try #expect(dealer.next() == [[], body])
    }
  }

  @Test("a REQ client gets its reply from a ROUTER that forwards the received message")
  func reqAndRouter() throws {
    let router = try Socket(.router, in: context)
    let req = try Socket(.req, in: context)
    try req.connect(router.bindToFreePort())
    try #expect(req.send(["ask".bytes]) == .sent)
    try #require(try router.waitUntilReadable(within: timeout))
    var message = Multipart()
    try #expect(router.receive(into: &message) == .message)
    #expect(message.count == 3)
    #expect(message.bytes(1) == [])
    #expect(message.withBytes(2) { $0.elementsEqual("ask".utf8) })
    try #expect(router.send(message) == .sent)
    try #expect(req.next() == ["ask".bytes])
    #expect(message.moveOut(2).bytes == "ask".bytes)
    #expect(message.bytes(2) == [])
  }

  @Test(
    "a receive without a message returns `nothing`, and a REP that sends first throws `wrongState`")
  func nothingAndWrongState() throws {
    let rep = try Socket(.rep, in: context)
    _ = try rep.bindToFreePort()
    try #expect(rep.isSilent())
    expect(.wrongState) { _ = try rep.send([[1]]) }
  }

  @Test("parts beyond the maximum are dropped and reported; the next message is complete")
  func tooManyParts() throws {
    let router = try Socket(.router, in: context)
    let dealer = try Socket(.dealer, in: context)
    try dealer.connect(router.bindToFreePort())
    try #expect(dealer.send((0..<50).map { [UInt8($0)] }) == .sent)
    try #expect(dealer.send(["next".bytes]) == .sent)
    try #require(try router.waitUntilReadable(within: timeout))
    var message = Multipart(maximumParts: 4)
    try #expect(router.receive(into: &message) == .tooManyParts)
    #expect(Array(message.allBytes.dropFirst()) == [[0], [1], [2]])
    try #expect(router.next().last == "next".bytes)
  }

  @Test("a mandatory ROUTER reports an unknown peer and keeps working")
  func unreachable() throws {
    let router = try Socket(.router, in: context)
    let dealer = try Socket(.dealer, in: context)
    try dealer.connect(router.bindToFreePort())
    try #expect(dealer.send([[1]]) == .sent)
    let identity = try router.next()[0]
    try #expect(router.send([[0, 1, 2, 3, 4], [], [2]]) == .unreachable)
    try #expect(router.send([identity, [3]]) == .sent)
    try #expect(dealer.next() == [[3]])
    dealer.close()
    try eventually { try router.send([identity, [4]]) == .unreachable }
  }

  @Test("the queue of a slow peer becomes full, and no message is lost or split")
  func full() throws {
    var options = SocketOptions()
    options.sendHighWaterMark = 10
    options.receiveHighWaterMark = 10
    let dealer = try Socket(.dealer, in: context, options: options)
    try #expect(dealer.send([[1]]) == .full)
    let router = try Socket(.router, in: context, options: options)
    try dealer.connect(router.bindToFreePort())
    var sent = 0
    let body = [UInt8](repeating: 0, count: 100_000)
    while try dealer.send([[UInt8(sent)], body]) == .sent { sent += 1 }
    #expect(sent >= 10)
    for index in 0..<sent {
      try #expect(router.next().dropFirst().first == [UInt8(index)])
    }
    try #expect(router.isSilent())
  }

  @Test("a frame above the maximum size disconnects only its sender")
  func tooLarge() throws {
    var options = SocketOptions()
    options.maximumMessageSize = 1_000
    let router = try Socket(.router, in: context, options: options)
    let endpoint = try router.bindToFreePort()
    let rude = try Socket(.dealer, in: context)
    var monitor = try Monitor(rude, in: context)
    try rude.connect(endpoint)
    let polite = try Socket(.dealer, in: context)
    try polite.connect(endpoint)
    try #expect(rude.send([[UInt8](repeating: 0, count: 1_001)]) == .sent)
    try #expect(polite.send([[UInt8](repeating: 1, count: 1_000)]) == .sent)
    try #expect(router.next()[1] == [UInt8](repeating: 1, count: 1_000))
    var cut = false
    try eventually {
      _ = try monitor.drain { if $0.kind == .disconnected { cut = true } }
      return cut
    }
    try #expect(router.isSilent())
  }

  @Test("a subscriber may disconnect while a message of several parts waits")
  func disconnectBeforeMessage() throws {
    let context = try Context()
    var options = SocketOptions()
    options.xpubVerboser = true
    let publisher = try Socket(.xpub, in: context, options: options)
    let endpoint = try publisher.bindToFreePort()
    let subscriber = try Socket(.sub, in: context)
    try subscriber.subscribe([])
    try subscriber.connect(endpoint)
    // The subscription has arrived.
    _ = try publisher.next()
    for number in 1...3 {
      #expect(try publisher.send(["topic".bytes, [UInt8(number)]]) == .sent)
    }
    // The check makes libzmq keep the first part of the first message.
    #expect(try subscriber.waitUntilReadable(within: timeout))
    try subscriber.disconnect(endpoint)
    // A first part without the second one would end the process.
    #expect(try subscriber.isSilent())
    try subscriber.connect(endpoint)
    // The end of the first subscription may precede the second one.
    while try publisher.next() != [[1]] {}
    #expect(try publisher.send(["topic".bytes, "again".bytes]) == .sent)
    #expect(try subscriber.next() == ["topic".bytes, "again".bytes])
  }

  @Test("the connection of a subscriber may end while a message of several parts waits")
  func endBeforeMessage() throws {
    let context = try Context()
    var options = SocketOptions()
    options.xpubVerboser = true
    var publisher: Socket? = try Socket(.xpub, in: context, options: options)
    let endpoint = try publisher!.bindToFreePort()
    let subscriber = try Socket(.sub, in: context)
    var monitor = try Monitor(subscriber, in: context)
    try subscriber.subscribe([])
    try subscriber.connect(endpoint)
    _ = try publisher!.next()
    #expect(try publisher!.send(["topic".bytes, "message".bytes]) == .sent)
    // The check makes libzmq keep the first part of the message.
    #expect(try subscriber.waitUntilReadable(within: timeout))
    publisher = nil
    try monitor.wait(for: .disconnected)
    // libzmq reads its commands when a socket is asked.
    for _ in 1...100 {
      _ = try subscriber.events()
      usleep(1_000)
    }
    #expect(try subscriber.next() == ["topic".bytes, "message".bytes])
  }

  @Test("the connection of a dealer may end between any two parts")
  func endBetweenParts() throws {
    for count in 40...60 {
      let context = try Context()
      var router: Socket? = try Socket(.router, in: context)
      let endpoint = try router!.bindToFreePort()
      let dealer = try Socket(.dealer, in: context)
      var monitor = try Monitor(dealer, in: context)
      try dealer.connect(endpoint)
      try eventually { try dealer.send([[], []]) == .sent }
      let route = try router!.next()[0]
      for number in 1...100 {
        #expect(try router!.send([route, [], [UInt8(number)]]) == .sent)
      }
      for _ in 1..<count { _ = try dealer.next() }
      router = nil
      try monitor.wait(for: .disconnected)
      usleep(10_000)
      while try dealer.receive() != nil {}
    }
  }

  @Test("errors have a code, a number and advice, and no endpoint")
  func errors() throws {
    let router = try Socket(.router, in: context)
    let endpoint = try router.bindToFreePort()
    expect(.addressInUse) {
      try Socket(.router, in: context).bind(endpoint)
    }
    expect(.invalidArgument) { try router.connect("nonsense") }
    expect(.addressUnavailable) { try router.disconnect(endpoint + "1") }
    let error = ZeroMQError(.addressInUse, "bind", number: EADDRINUSE)
    #expect(
      error.description == "bind failed: Address already in use (98). "
        + "Choose another endpoint, or stop the process that is bound to it.")
  }

  @Test("a socket throws `terminated` after its context ended")
  func terminate() throws {
    let context = try Context()
    let router = try Socket(.router, in: context)
    // A separate thread, because other tests may occupy every thread of the pool.
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      context.terminate()
      ended.signal()
    }
    try eventually {
      do throws(ZeroMQError) {
        return try !router.isSilent()
      } catch {
        return error.code == .terminated
      }
    }
    expect(.terminated) { _ = try Socket(.pair, in: context) }
    router.close()
    #expect(ended.wait(timeout: .now() + 10) == .success)
  }

  @Test("the limit of sockets is reported")
  func manySockets() throws {
    let context = try Context(maximumSockets: 3)
    var kept = [try OneSocket(context), try OneSocket(context)]
    expect(.tooManySockets) {
      for _ in 0..<3 { kept.append(try OneSocket(context)) }
    }
    expect(.invalidArgument) { _ = try Context(maximumSockets: 0) }
  }

  private final class OneSocket {
    let socket: Socket
    init(_ context: Context) throws { socket = try Socket(.pair, in: context) }
  }
}
