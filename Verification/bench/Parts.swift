import Foundation
import ZeroMQ

/// What an approval waits for, measured bare: no product around it.
///
/// A disk and a thread that have just worked answer sooner than those that rested, by up to ten times on
/// virtual machines. So the parts are measured twice: as fast as they go, and at the pace at which
/// approvals need them.
final class Parts {
  enum Part { case roundTrip, commit }

  /// All that an approval waits for, in order. Hops: app, child's device, relay, guardian's device, relay, child's
  /// device, app. Commits: the question on the child's device, at the relay and on the guardian's device, the
  /// answer on the guardian's device, at the relay, on the child's device and in the app.
  static let waitedFor: [Part] = [
    .roundTrip, .commit, .commit, .roundTrip, .commit, .commit, .commit, .roundTrip, .commit,
    .commit,
  ]
  /// What it could not do without if no device kept anything and the app were the device.
  static let fewest: [Part] = [.roundTrip, .commit, .roundTrip, .commit]

  /// Seconds: of the parts of approvals together, and of each part.
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

  /// The times of the parts, one after the other, for as many approvals.
  ///
  /// - Parameter pace: Seconds that an approval takes: they are spent busy before its parts, as programs work
  ///     there. 0: as fast as it goes.
  func approvals(_ count: Int, of parts: [Part], pace: Double) throws -> Times {
    var times = Times()
    for _ in 0..<count {
      var total = 0.0
      for part in parts {
        work(pace / Double(parts.count))
        let time = part == .commit ? commit() : try roundTrip()
        if part == .commit { times.sync.append(time) } else { times.hop.append(time / 2) }
        total += time
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
