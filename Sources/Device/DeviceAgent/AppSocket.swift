import Credentials
import DeviceConnection
import FamilyModel
import Foundation
import ZeroMQ

/// The socket on which apps reach their device. An app is known by its key, which the device made.
///
/// It is confined to the host's thread.
final class AppSocket {
  let router: Socket
  var zap: ZAPHandler
  private var message = Multipart()
  /// By the text of the app's public key.
  private var owners: [String: (DeviceAddress, AppID)] = [:]
  /// Where the app is, since it last spoke.
  private var routes: [String: [UInt8]] = [:]
  private var keys: [DeviceAddress: [AppID: String]] = [:]

  init(_ configuration: AgentHost.Configuration, in context: Context) throws {
    zap = try ZAPHandler(in: context)
    let serverKeys = try Self.deviceKeys(configuration)
    var options = SocketOptions()
    options.security = .server(serverKeys)
    options.zapDomain = "device"
    options.maximumMessageSize = Int64(Limits.frameBytes)
    router = try Socket(.router, in: context, options: options)
    let endpoint = "ipc://" + configuration.directory.appendingPathComponent("device.ipc").path
    try router.bind(endpoint)
    for credential in configuration.credentials where !credential.role.isGuardian {
      for app in configuration.apps.keys.sorted() {
        try install(app, credential, serverKeys, endpoint, configuration)
      }
    }
  }

  static func credentialFile(
    _ configuration: AgentHost.Configuration, _ address: DeviceAddress, _ app: AppID
  ) -> URL {
    configuration.directory.appendingPathComponent(
      "app-\(address.family.rawValue)-\(address.device.rawValue)-\(app.rawValue).json")
  }

  /// The key that apps know this device by: it stays, so that an app that runs finds the device again.
  private static func deviceKeys(_ configuration: AgentHost.Configuration) throws -> CurveKeyPair {
    let file = configuration.directory.appendingPathComponent("device.key")
    if FileManager.default.fileExists(atPath: file.path) {
      let text = String(decoding: try PrivateFile.read(file), as: UTF8.self)
      guard let keys = CurveKeyPair(secretZ85: text) else {
        throw PrivateFile.Failure(description: "\(file.path) is not a key.")
      }
      return keys
    }
    let keys = try CurveKeyPair.generate()
    try PrivateFile.write(Data(keys.secretZ85.utf8), to: file)
    return keys
  }

  /// Writes the app's credential; the key of one that is there stays.
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
      publicKey: pair.publicKey.z85, secretKey: pair.secretZ85, storage: storage.path)
    try PrivateFile.write(try JSONEncoder().encode(credential), to: file)
    owners[pair.publicKey.z85] = (address, app)
    keys[address, default: [:]][app] = pair.publicKey.z85
  }

  /// Lets in the apps that are installed, and nobody else.
  func admit() throws(ZeroMQError) {
    _ = try zap.drain { [owners] request in
      guard let key = request.publicKey?.z85, owners[key] != nil else { return .deny }
      return .accept(userID: key)
    }
  }

  /// Gives what waits, up to `limit`; tells how many messages were not of three frames, or too large.
  func drain(
    limit: Int, _ body: (DeviceAddress, AppID, UnsafeRawBufferPointer) -> Void
  ) throws(ZeroMQError) -> Int {
    var unusable = 0
    for _ in 0..<limit {
      let result = try router.receive(into: &message)
      guard result != .nothing else { break }
      guard result == .message, message.count == 3, let key = message.userID,
        let (address, app) = owners[key]
      else {
        unusable += 1
        continue
      }
      routes[key] = message.bytes(0)
      message.withBytes(2) { body(address, app, $0) }
    }
    return unusable
  }

  /// Sends to the app; `unreachable` where it has gone.
  func send(_ bytes: [UInt8], to app: AppID, on address: DeviceAddress) throws(ZeroMQError)
    -> SendResult
  {
    guard let key = keys[address]?[app], let route = routes[key] else { return .unreachable }
    let result = try router.send([route, [], bytes])
    if result == .unreachable { routes[key] = nil }
    return result
  }
}
