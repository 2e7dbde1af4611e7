import Foundation
import ZeroMQ

/// The socket hops and commits on an approval's critical path, measured without the product.
///
/// A disk or thread that has just been busy responds up to ten times sooner than an idle one on
/// virtual machines. The parts are therefore measured back to back and at the pace of real
/// approvals.
final class Parts {
  enum Part { case roundTrip, commit }

  /// The critical path of an approval, in order.
  ///
  /// - Hops: app, child's device, relay, guardian's device, relay, child's device, app.
  /// - Commits of the question: child's device, relay, guardian's device.
  /// - Commits of the answer: guardian's device, relay, child's device, app.
  static let ofApproval: [Part] = [
    .roundTrip, .commit, .commit, .roundTrip, .commit, .commit, .commit, .roundTrip, .commit,
    .commit,
  ]
  /// The lower bound of any relay: no device stores anything, and the app is the device.
  static let minimum: [Part] = [.roundTrip, .commit, .roundTrip, .commit]

  /// Seconds for all parts of each approval (`whole`) and for each single part.
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

  /// The peer has its own thread and ZeroMQ context, as a separate process would.
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
      while (try? dealer.waitUntilReadable(within: .seconds(60))) == true {
        guard let message = try? dealer.receive(), message.bytes(0).count > 1 else { return }
        _ = try? dealer.send([message.bytes(0)])
      }
    }
    echo.start()
    guard try router.waitUntilReadable(within: .seconds(5)), let hello = try router.receive() else {
      throw CocoaError(.fileReadUnknown)
    }
    route = hello.bytes(0)
    file = open(folder.appendingPathComponent("sync").path, O_WRONLY | O_CREAT, 0o600)
    guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// Measures the parts of several approvals, one after another.
  ///
  /// - Parameter pace: Seconds of an approval, spread over its parts as busy waiting before each of
  ///   them; 0 measures the parts back to back.
  func approvals(_ count: Int, of parts: [Part], pace: Double) throws -> Times {
    var times = Times()
    for _ in 0..<count {
      var total = 0.0
      for part in parts {
        spin(pace / Double(parts.count))
        let time = part == .commit ? commit() : try roundTrip()
        if part == .commit { times.sync.append(time) } else { times.hop.append(time / 2) }
        total += time
      }
      times.whole.append(total)
    }
    return times
  }

  /// Keeps this thread busy, as the programs of an approval are between two parts.
  private func spin(_ seconds: Double) {
    let end = DispatchTime.now().uptimeNanoseconds + UInt64(seconds * 1e9)
    while DispatchTime.now().uptimeNanoseconds < end {}
  }

  private func roundTrip() throws -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    _ = try router.send([route, payload])
    _ = try router.waitUntilReadable(within: .seconds(5))
    _ = try router.receive()
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
  }

  private func commit() -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    _ = write(file, page, page.count)
    fdatasync(file)
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
  }

  /// Stops the peer.
  func stop() throws {
    _ = try router.send([route, [0]])
    while !echo.isFinished { usleep(1_000) }
    close(file)
  }
}
