import ArgumentParser
import Foundation
import Hummingbird
import Logging
import ProgramOptions
import RelayOperation

/// The program `relay-monitor`.
///
/// The relay itself speaks no HTTP. So a fault in the handling of HTTP never reaches the process that
/// holds the relay's keys, and a monitor still answers while its relay hangs.
@main
struct RelayMonitor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay-monitor",
    abstract: "Serve the metrics and the health of a relay over HTTP.",
    discussion: """
      GET /metrics  OpenMetrics, or the format of Prometheus
      GET /health   200 if the relay answers and its disk completes commits, otherwise 503
      GET /ready    200 if the relay also accepts questions, otherwise 503

      Prints `ready` with the address. SIGTERM and SIGINT end the program. Runs as the relay's user.
      """,
    version: Program.version)

  static func main() async { await Program.run(Self.self) }

  @Option(help: "The relay's folder.") var directory: String
  @Option(help: "The address to listen at. Only a loopback address keeps the numbers private.")
  var host = "127.0.0.1"
  @Option(help: "The port; 0 chooses a free one.") var port = 9464
  @OptionGroup var logging: LogOptions

  func validate() throws {
    guard 0...65_535 ~= port else {
      throw ValidationError("--port takes 0 to 65535, not '\(port)'.")
    }
  }

  func run() async throws {
    let relay = WatchedRelay(directory: URL(fileURLWithPath: directory))
    let router = Router()
    router.get("metrics") { request, _ in
      let format = MetricsText.Format(accepting: request.headers[.accept])
      let text = MetricsText.render(await relay.statistics(), format)
      return Response(
        status: .ok, headers: [.contentType: format.mediaType],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
    router.get("health") { _, _ in await Self.response(relay.health()) }
    router.get("ready") { _, _ in await Self.response(relay.readiness()) }
    let (host, port) = (host, port)
    let application = Application(
      router: router,
      configuration: .init(address: .hostname(host, port: port), serverName: nil),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? port
        FileHandle.standardOutput.write(Data("ready http://\(host):\(port)\n".utf8))
      },
      logger: logging.logger(label: "relay-monitor"))
    try await application.runService()
  }

  /// - Parameter fault: Why the relay is not in order; `nil` if it is.
  private static func response(_ fault: String?) -> Response {
    Response(
      status: fault == nil ? .ok : .serviceUnavailable,
      headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: (fault ?? "ok") + "\n")))
  }
}
