import AppClient
import ArgumentParser
import DeviceConnection
import Foundation
import GatewayModel
import GatewayServer
import Logging
import PrivateFiles
import ProgramOptions
import SQLiteStore
import ServiceLifecycle
import SystemClock

/// The program `gateway`.
@main
struct Gateway: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gateway",
    abstract: "Give apps of any language their device's API over HTTP, and post their events.",
    discussion: """
      Runs beside a child's device and takes the place of the apps that --app names: the device does
      not launch them meanwhile. Each app has a token in the gateway's folder:

        curl -H "Authorization: Bearer $(cat gateway/token-APP)" http://127.0.0.1:PORT/v1/status

      An app's manifest may name a URL ("webhook"), to which the gateway posts the app's events if its
      origin is allowed. Prints `ready` with the address. SIGTERM and SIGINT end the program.
      """,
    version: Program.version)

  static func main() async { await Program.run(Self.self) }

  @Option(help: "The gateway's folder: log, socket, tokens, secrets.") var directory: String
  @Option(
    name: .customLong("app"), help: "An app's credential file, app-FAMILY-DEVICE-APP.json. Repeat.")
  var apps: [String]
  @Option(
    name: .customLong("manifest"), help: "An app's manifest, as IDENTIFIER=FILE. Repeat.")
  var manifests: [String] = []
  @Option(
    name: .customLong("allow"),
    help: "An origin that webhooks may use, such as https://example.com:8443. Repeat.")
  var allowed: [String] = []
  @Option(
    name: .customLong("authority"),
    help: "A PEM file of certificate authorities for webhooks, beside the system's. Repeat.")
  var authorities: [String] = []
  @Option(help: "The port on 127.0.0.1; 0 chooses a free one.") var port = 0
  @OptionGroup var logging: LogOptions

  func validate() throws {
    guard 0...65_535 ~= port else {
      throw ValidationError("--port takes 0 to 65535, not '\(port)'.")
    }
    guard !apps.isEmpty else { throw ValidationError("Missing --app: name a credential file.") }
    for origin in allowed where AllowedOrigin(origin) == nil {
      throw ValidationError("--allow takes an origin such as https://example.com, not '\(origin)'.")
    }
    for manifest in manifests where !manifest.dropFirst().contains("=") {
      throw ValidationError("--manifest takes IDENTIFIER=FILE, not '\(manifest)'.")
    }
  }

  func run() async throws {
    PrivateFile.restrictNewFilesToOwner()
    let files = GatewayFiles(folder: URL(fileURLWithPath: directory))
    try PrivateFile.createFolder(files.folder)
    let authorities = try webhookAuthorities()
    let store = try SQLiteGatewayStore(path: files.store.path)
    let logger = logging.logger(label: "gateway")
    let credentials = try credentials()
    let webhooks = try webhooks(of: credentials.map(\.app), files, store)
    let sender = WebhookSender(
      store: store, webhooks: webhooks, allowed: allowed.compactMap { AllowedOrigin($0) },
      authorities: authorities, time: .init(now: { .now }), logger: logger)
    var gateways: [(token: String, app: AppGateway)] = []
    for credential in credentials {
      let gateway = try AppGateway(
        app: credential.app, session: try AppSession.session(of: credential), store: store,
        logger: logger, onAppend: { sender.wake(app: $0) })
      gateways.append((try files.token(of: credential.app), gateway))
    }
    let server = GatewayHTTPServer(
      port: port, socket: files.socket.path, apps: gateways, logger: logger
    ) { port in
      FileHandle.standardOutput.write(Data("ready http://127.0.0.1:\(port)\n".utf8))
    }
    let services = gateways.map { $0.app as any Service } + [sender] + server.services
    try await ServiceGroup(
      services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
    ).run()
    store.close()
  }

  private func credentials() throws -> [AppCredential] {
    let credentials = try apps.map { path in
      let data = try PrivateFile.read(URL(fileURLWithPath: path))
      do { return try JSONDecoder().decode(AppCredential.self, from: data) } catch {
        throw ValidationError(
          "\(path) is not an app's credential. child-agent writes one per --app.")
      }
    }
    guard Set(credentials.map(\.app)).count == credentials.count else {
      throw ValidationError("Two credentials are of one app.")
    }
    return credentials
  }

  private func webhookAuthorities() throws -> WebhookAuthorities {
    do { return try WebhookAuthorities(files: authorities) } catch {
      throw ValidationError("--authority takes a PEM file of certificates, not '\(error.file)'.")
    }
  }

  /// The webhooks that the manifests name. Their addresses are stored for `relayctl webhooks`.
  private func webhooks(of apps: [String], _ files: GatewayFiles, _ store: SQLiteGatewayStore)
    throws
    -> [WebhookSender.Webhook]
  {
    var urls: [String: String] = [:]
    for manifest in manifests {
      let parts = manifest.split(separator: "=", maxSplits: 1).map(String.init)
      let data = try Data(contentsOf: URL(fileURLWithPath: parts[1]))
      if let url = try JSONDecoder().decode(WebhookManifest.self, from: data).webhook {
        urls[parts[0]] = url
      }
    }
    var webhooks: [WebhookSender.Webhook] = []
    for app in apps {
      try store.setWebhook(urls[app], of: app)
      guard let url = urls[app] else { continue }
      webhooks.append(.init(app: app, url: url, secret: try files.secret(of: app)))
    }
    return webhooks
  }
}

/// The part of an app's manifest that the gateway reads.
private struct WebhookManifest: Decodable {
  var webhook: String?
}
