public import Foundation
public import ZeroMQ

/// The relay's own secrets, in the file `relay.json` of its folder (mode 0600).
public struct RelayKeys: Sendable {
  /// The relay's CURVE keys.
  public var keys: CurveKeyPair
  /// The administrator's CURVE key. The `AdministratorCredential` holds the secret key.
  public var administrator: CurvePublicKey
  /// The 32 bytes from which ``ChannelCipher`` derives topics and keys.
  public var channelSecret: [UInt8]
  /// The endpoint for requests that the credentials name; `nil`: a socket in the folder.
  public var requests: String?
  /// The endpoint for broadcasts that the credentials name; `nil`: a socket in the folder.
  public var broadcasts: String?

  private struct File: Codable {
    var version = 1
    var secretKey: String
    var administratorKey: String
    var channelSecret: Data
    var requests: String?
    var broadcasts: String?
  }

  /// The secrets of a relay.
  package init(
    keys: CurveKeyPair, administrator: CurvePublicKey, channelSecret: [UInt8],
    requests: String? = nil, broadcasts: String? = nil
  ) {
    self.keys = keys
    self.administrator = administrator
    self.channelSecret = channelSecret
    self.requests = requests
    self.broadcasts = broadcasts
  }

  /// The file in the relay's folder.
  public static func file(in directory: URL) -> URL {
    directory.appendingPathComponent("relay.json")
  }

  /// Creates the secrets and the administrator's credential. Existing secrets are read and kept.
  ///
  /// - Parameters:
  ///   - requests: The relay's endpoint for requests (default: a socket in the folder).
  ///   - broadcasts: The relay's endpoint for broadcasts (default: a socket in the folder).
  public static func create(
    in directory: URL, requests: String? = nil, broadcasts: String? = nil
  ) throws -> RelayKeys {
    try PrivateFile.createFolder(directory)
    let file = file(in: directory)
    if FileManager.default.fileExists(atPath: file.path) { return try read(from: directory) }
    let administrator = try CurveKeyPair.generate()
    let new = RelayKeys(
      keys: try .generate(), administrator: administrator.publicKey,
      channelSecret: (0..<ChannelCipher.keyBytes).map { _ in .random(in: .min ... .max) },
      requests: requests, broadcasts: broadcasts)
    let credential = AdministratorCredential(
      keys: administrator, relayKey: new.keys.publicKey,
      requests: requests ?? Self.requests(in: directory),
      broadcasts: broadcasts ?? Self.broadcasts(in: directory))
    // Written last: the relay's file exists only if the credential exists.
    try credential.write(to: AdministratorCredential.file(in: directory))
    let content = File(
      secretKey: new.keys.secretZ85, administratorKey: administrator.publicKey.z85,
      channelSecret: Data(new.channelSecret), requests: requests, broadcasts: broadcasts)
    try PrivateFile.write(try PrivateFile.encoder.encode(content), to: file)
    return new
  }

  /// Reads the secrets from the relay's folder.
  ///
  /// - Throws: `PrivateFile.Failure` if the file is missing, invalid, or readable by others.
  public static func read(from directory: URL) throws -> RelayKeys {
    let file = file(in: directory)
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw PrivateFile.Failure(
        description:
          "No relay in \(directory.path). Run: relayctl init --directory \(directory.path)")
    }
    let data = try PrivateFile.read(file)
    guard let content = try? JSONDecoder().decode(File.self, from: data), content.version == 1,
      let keys = CurveKeyPair(secretZ85: content.secretKey),
      let administrator = CurvePublicKey(z85: content.administratorKey),
      content.channelSecret.count == ChannelCipher.keyBytes
    else {
      throw PrivateFile.Failure(
        description:
          "\(file.path) is not a relay's key file of this version. Run `relayctl init` for a new"
          + " folder.")
    }
    return RelayKeys(
      keys: keys, administrator: administrator, channelSecret: [UInt8](content.channelSecret),
      requests: content.requests, broadcasts: content.broadcasts)
  }

  /// The default endpoint for requests, a Unix socket in the folder.
  public static func requests(in directory: URL) -> String {
    "ipc://\(directory.appendingPathComponent("requests.ipc").path)"
  }

  /// The default endpoint for broadcasts, a Unix socket in the folder.
  public static func broadcasts(in directory: URL) -> String {
    "ipc://\(directory.appendingPathComponent("broadcasts.ipc").path)"
  }
}
