import Hummingbird
package import Logging
package import ServiceLifecycle

/// The HTTP server of a console, which listens at 127.0.0.1 alone.
package struct ConsoleServer {
  /// The services to run, in order.
  package let services: [any Service]

  /// - Parameters:
  ///   - port: The port; 0 chooses a free one.
  ///   - onReady: Called with the address that a person opens.
  package init(
    _ console: ClusterConsole, port: Int, logger: Logger,
    onReady: @escaping @Sendable (String) -> Void
  ) throws {
    let secrets = ConsoleSecrets()
    let routes = ConsoleRoutes(
      secrets: secrets, page: try ConsolePage(), parts: console.parts, console: console)
    let application = Application(
      router: routes.router(),
      configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: nil),
      onServerRunning: { channel in
        secrets.port = channel.localAddress?.port ?? port
        onReady(secrets.url)
      },
      logger: logger)
    services = [application, console]
  }
}
