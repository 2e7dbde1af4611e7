import ContentCheck
import Credentials
import DeviceConnection
import FamilyModel
import Foundation
import ZeroMQ

/// The socket on which apps reach their device. The device creates each app's key and identifies
/// the app by it.
///
/// Confined to the host's socket thread.
final class AppSocket {
  let router: Socket
  var zap: ZAPHandler
  /// Closes connections above the limits of an app, or of all apps.
  private(set) var connections: ConnectionGuard
  private var message = Multipart()
  /// The device and name of each app, by the app's public key in Z85.
  private var owners: [String: (DeviceAddress, AppID)] = [:]
  /// The connection on which each app last attached, by the app's public key in Z85. A second
  /// process of the app may send names before it attaches.
  private var routes: [String: Route] = [:]
  private var keys: [DeviceAddress: [AppID: String]] = [:]
  /// The app's public key and the connection of the message that is being read.
  private var sender: (key: String, route: Route)?

  private struct Route {
    var id: [UInt8]
    var descriptor: Int32?
  }

  init(_ configuration: AgentHost.Configuration, in context: Context) throws {
    zap = try ZAPHandler(in: context)
    let serverKeys = try Self.deviceKeys(configuration)
    var options = SocketOptions()
    options.security = .server(serverKeys)
    options.zapDomain = "device"
    options.maximumMessageSize = Int64(Limits.frameBytes)
    options.receiveHighWaterMark = Limits.appReceiveQueue
    router = try Socket(.router, in: context, options: options)
    let children = configuration.credentials.count { !$0.role.isGuardian }
    connections = try ConnectionGuard(
      router, in: context,
      limits: Self.limits(apps: children * configuration.apps.count))
    let endpoint = "ipc://" + configuration.directory.appendingPathComponent("device.ipc").path
    try router.bind(endpoint)
    for credential in configuration.credentials where !credential.role.isGuardian {
      for app in configuration.apps.keys.sorted() {
        try install(app, credential, serverKeys, endpoint, configuration)
      }
    }
  }

  /// The limits of the connections. Bytes are not counted on a Unix socket.
  private static func limits(apps: Int) -> ConnectionLimits {
    let bytes = ConnectionLimits.Bytes(burst: 32 << 20, perSecond: 2 << 20)
    return ConnectionLimits(
      connections: max(64, 2 * apps * Limits.appConnections), perOwner: Limits.appConnections,
      proven: bytes, unproven: bytes, unprovenTimeout: .seconds(30))
  }

  /// Records opened and closed connections, and closes those above a limit.
  func checkConnections() throws(ZeroMQError) {
    try connections.drain()
    if try !router.waitUntilReadable(within: .zero) { connections.settle() }
    connections.check()
  }

  static func credentialFile(
    _ configuration: AgentHost.Configuration, _ address: DeviceAddress, _ app: AppID
  ) -> URL {
    configuration.directory.appendingPathComponent(
      "app-\(address.family.rawValue)-\(address.device.rawValue)-\(app.rawValue).json")
  }

  /// Reads or creates the device's key. The key survives a restart, so that running apps reconnect.
  private static func deviceKeys(_ configuration: AgentHost.Configuration) throws -> CurveKeyPair {
    let file = configuration.directory.appendingPathComponent("device.key")
    if FileManager.default.fileExists(atPath: file.path) {
      let text = String(decoding: try PrivateFile.read(file), as: UTF8.self)
      guard let keys = CurveKeyPair(secretZ85: text) else {
        throw PrivateFile.Failure(description: "\(file.path) is not a secret key in Z85.")
      }
      return keys
    }
    let keys = try CurveKeyPair.generate()
    try PrivateFile.write(Data(keys.secretZ85.utf8), to: file)
    return keys
  }

  /// The path of `content-decoder` beside this program, if it is there.
  static var decoder: String? {
    let path = DecoderProcess.besideThisProgram.path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }

  /// Writes the app's credential. An existing credential keeps its key.
  private func install(
    _ app: AppID, _ owner: Credential, _ serverKeys: CurveKeyPair, _ endpoint: String,
    _ configuration: AgentHost.Configuration
  ) throws {
    let address = owner.address
    let file = Self.credentialFile(configuration, address, app)
    let storage = file.deletingPathExtension()
    try FileManager.default.createDirectory(
      at: storage, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let old = try? JSONDecoder().decode(AppCredential.self, from: PrivateFile.read(file))
    let pair = try old.flatMap { CurveKeyPair(secretZ85: $0.secretKey) } ?? .generate()
    let credential = AppCredential(
      app: app.rawValue, family: address.family.rawValue, person: owner.personID.rawValue,
      organizerKey: owner.organizerKey, endpoint: endpoint,
      devicePublicKey: serverKeys.publicKey.z85,
      publicKey: pair.publicKey.z85, secretKey: pair.secretZ85, storage: storage.path,
      decoder: Self.decoder)
    try PrivateFile.write(try JSONEncoder().encode(credential), to: file)
    owners[pair.publicKey.z85] = (address, app)
    keys[address, default: [:]][app] = pair.publicKey.z85
  }

  /// Accepts the keys of installed apps and denies all others.
  func acceptInstalledApps() throws(ZeroMQError) {
    _ = try zap.drain { [owners] request in
      guard let key = request.publicKey?.z85, owners[key] != nil else { return .deny }
      return .accept(userID: key)
    }
  }

  /// Passes waiting messages to `body`, at most `limit`.
  ///
  /// - Parameter body: Returns whether replies go to the connection of the message.
  /// - Returns: The number of messages that were too large or did not have three frames.
  func drain(
    limit: Int, _ body: (DeviceAddress, AppID, UnsafeRawBufferPointer) -> Void
  ) throws(ZeroMQError) -> Int {
    var unusable = 0
    for _ in 0..<limit {
      let result = try router.receive(into: &message)
      guard result != .nothing else {
        connections.settle()
        break
      }
      guard result == .message, message.count == 3, let key = message.userID,
        let (address, app) = owners[key]
      else {
        unusable += 1
        continue
      }
      sender = (key, Route(id: message.bytes(0), descriptor: message.descriptor))
      if connections.prove(message.descriptor, owner: key) { try checkConnections() }
      message.withBytes(2) { body(address, app, $0) }
    }
    sender = nil
    return unusable
  }

  /// Sends the app's messages to the sender of the message that is being read, from now on.
  func replyToSender() { if let sender { routes[sender.key] = sender.route } }

  /// Closes the connection on which the app last attached. A process that is still there connects
  /// and attaches again.
  func disconnect(_ app: AppID, on address: DeviceAddress) {
    guard let key = keys[address]?[app],
      let descriptor = routes.removeValue(forKey: key)?.descriptor
    else { return }
    // libzmq may have closed the descriptor meanwhile. Then shutdown fails, or closes a newer
    // connection, which reconnects.
    _ = Foundation.shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Sends a message to the app.
  ///
  /// - Returns: `unreachable` if the app is not connected.
  func send(_ bytes: [UInt8], to app: AppID, on address: DeviceAddress) throws(ZeroMQError)
    -> SendResult
  {
    guard let key = keys[address]?[app], let route = routes[key] else { return .unreachable }
    let result = try router.send([route.id, [], bytes])
    if result == .unreachable { routes[key] = nil }
    return result
  }
}
