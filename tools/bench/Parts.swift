import Foundation
import ZeroMQ

/// What an approval cannot do without, measured bare.
enum Parts {
  /// Seconds of one message from a thread to another one that sleeps: half of a round trip.
  static func hop(rounds: Int, folder: URL) throws -> [Double] {
    let context = try Context()
    let server = try CurveKeyPair.generate()
    var options = SocketOptions()
    options.security = .server(server)
    let router = try Socket(.router, in: context, options: options)
    let endpoint = "ipc://\(folder.path)/hop.ipc"
    try router.bind(endpoint)
    let client = try Context()
    var clientOptions = SocketOptions()
    clientOptions.security = .client(try .generate(), server: server.publicKey)
    let echo = Thread { [clientOptions] in
      // The other side lives on its own thread and context, as in another process.
      guard let dealer = try? Socket(.dealer, in: client, options: clientOptions),
        (try? dealer.connect(endpoint)) != nil, (try? dealer.send([[0]])) != nil
      else { return }
      while (try? dealer.waitUntilReadable(milliseconds: 5_000)) == true {
        guard let message = try? dealer.receive(), message.bytes(0).count > 1 else { return }
        _ = try? dealer.send([message.bytes(0)])
      }
    }
    echo.start()
    guard try router.waitUntilReadable(milliseconds: 5_000), let hello = try router.receive() else {
      throw CocoaError(.fileReadUnknown)
    }
    let route = hello.bytes(0)
    let payload = [UInt8](repeating: 7, count: 300)
    let times = try (0..<rounds).map { _ in
      let start = DispatchTime.now().uptimeNanoseconds
      _ = try router.send([route, payload])
      _ = try router.waitUntilReadable(milliseconds: 5_000)
      _ = try router.receive()
      return Double(DispatchTime.now().uptimeNanoseconds - start) / 2e9
    }
    _ = try router.send([route, [0]])
    while !echo.isFinished { usleep(1_000) }
    return times
  }

  /// Seconds of one append of 4 KB and its fdatasync, on the disk of the folder.
  static func fsync(rounds: Int, folder: URL) throws -> [Double] {
    let descriptor = open(folder.appendingPathComponent("sync").path, O_WRONLY | O_CREAT, 0o600)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    defer { close(descriptor) }
    let page = [UInt8](repeating: 7, count: 4_096)
    return (0..<rounds).map { _ in
      let start = DispatchTime.now().uptimeNanoseconds
      _ = write(descriptor, page, page.count)
      fdatasync(descriptor)
      return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }
  }
}
