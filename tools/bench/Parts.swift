import Foundation
import ZeroMQ

/// What an approval cannot do without, measured bare: no product around it.
///
/// A disk and a thread that have just worked answer sooner than those that rested, by up to ten times on
/// virtual machines. So the parts are measured twice: as fast as they go, and at the pace at which
/// approvals need them.
final class Parts {
  /// Seconds: of the parts of approvals, and of each part.
  struct Times {
    var whole: [Double] = []
    var hop: [Double] = []
    var sync: [Double] = []

    static func += (times: inout Times, more: Times) {
      times.whole += more.whole
      times.hop += more.hop
      times.sync += more.sync
    }
  }

  private let contexts: (Context, Context)
  private let router: Socket
  private let echo: Thread
  private var route: [UInt8] = []
  private var file: Int32 = -1
  private let page = [UInt8](repeating: 7, count: 4_096)
  private let payload = [UInt8](repeating: 7, count: 300)

  /// The other side of the hops has its own thread and context, as in another process.
  init(folder: URL) throws {
    contexts = (try Context(), try Context())
    let server = try CurveKeyPair.generate()
    var options = SocketOptions()
    options.security = .server(server)
    router = try Socket(.router, in: contexts.0, options: options)
    let endpoint = "ipc://\(folder.path)/hop.ipc"
    try router.bind(endpoint)
    options.security = .client(try .generate(), server: server.publicKey)
    echo = Thread { [options, client = contexts.1] in
      guard let dealer = try? Socket(.dealer, in: client, options: options),
        (try? dealer.connect(endpoint)) != nil, (try? dealer.send([[0]])) != nil
      else { return }
      while (try? dealer.waitUntilReadable(milliseconds: 60_000)) == true {
        guard let message = try? dealer.receive(), message.bytes(0).count > 1 else { return }
        _ = try? dealer.send([message.bytes(0)])
      }
    }
    echo.start()
    guard try router.waitUntilReadable(milliseconds: 5_000), let hello = try router.receive() else {
      throw CocoaError(.fileReadUnknown)
    }
    route = hello.bytes(0)
    file = open(folder.appendingPathComponent("sync").path, O_WRONLY | O_CREAT, 0o600)
    guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// Seconds of four hops and two commits, in the order of an approval: two hops, a commit, twice.
  ///
  /// - Parameter pace: Seconds that an approval takes: a quarter of it is spent busy before each commit and each
  ///     round trip, where programs work on it. 0: as fast as it goes.
  func approvals(_ count: Int, pace: Double) throws -> Times {
    var times = Times()
    for _ in 0..<count {
      var total = 0.0
      for _ in 0..<2 {
        work(pace / 4)
        let hop = try roundTrip()
        work(pace / 4)
        let sync = commit()
        times.hop.append(hop / 2)
        times.sync.append(sync)
        total += hop + sync
      }
      times.whole.append(total)
    }
    return times
  }

  /// Keeps this thread busy, as the programs of an approval are while the disk or a peer rests.
  private func work(_ seconds: Double) {
    let end = DispatchTime.now().uptimeNanoseconds + UInt64(seconds * 1e9)
    while DispatchTime.now().uptimeNanoseconds < end {}
  }

  private func roundTrip() throws -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    _ = try router.send([route, payload])
    _ = try router.waitUntilReadable(milliseconds: 5_000)
    _ = try router.receive()
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
  }

  private func commit() -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    _ = write(file, page, page.count)
    fdatasync(file)
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
  }

  /// Ends the other side.
  func stop() throws {
    _ = try router.send([route, [0]])
    while !echo.isFinished { usleep(1_000) }
    close(file)
  }
}
