import Foundation
import Hummingbird
package import Logging
package import ServiceLifecycle

/// The two listeners of the gateway: a port of 127.0.0.1, and a unix socket.
package struct GatewayHTTPServer {
  /// The services that listen.
  package let services: [any Service]

  /// - Parameters:
  ///   - port: The port; 0 chooses a free one.
  ///   - socket: The path of the unix socket, in a folder that its owner alone may enter. A file that
  ///     an earlier process left is removed.
  ///   - onReady: Called with the port once it listens.
  package init(
    port: Int, socket: String, apps: [(token: String, app: AppGateway)], logger: Logger,
    onReady: @escaping @Sendable (Int) -> Void
  ) {
    let router = GatewayRoutes.router(apps)
    try? FileManager.default.removeItem(atPath: socket)
    let unix = Application(
      router: router,
      configuration: .init(address: .unixDomainSocket(path: socket), serverName: nil),
      logger: logger)
    let tcp = Application(
      router: router,
      configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: nil),
      onServerRunning: { channel in onReady(channel.localAddress?.port ?? port) },
      logger: logger)
    services = [unix, tcp]
  }
}
