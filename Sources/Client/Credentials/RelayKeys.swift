public import Foundation
public import ZeroMQ

/// The relay's own secrets, in the file `relay.json` of its folder (mode 0600).
public struct RelayKeys: Sendable {
  /// What the relay is known by.
  public var keys: CurveKeyPair
  /// What the administrator is known by; the secret is in the `AdministratorCredential`.
  public var administrator: CurvePublicKey
  /// 32 bytes from which the channels' topics and keys are made.
  public var channelSecret: [UInt8]

  private struct File: Codable {
    var version = 1
    var secretKey: String
    var administratorKey: String
    var channelSecret: Data
  }

  /// The file in the relay's folder.
  public static func file(in directory: URL) -> URL {
    directory.appendingPathComponent("relay.json")
  }

  /// Makes the secrets and the administrator's credential, unless they are there.
  ///
  /// - Parameters:
  ///   - requests: The relay's endpoint for requests; `nil`: in the folder.
  ///   - broadcasts: The relay's endpoint for broadcasts; `nil`: in the folder.
  public static func create(
    in directory: URL, requests: String? = nil, broadcasts: String? = nil
  ) throws -> RelayKeys {
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let file = file(in: directory)
    if FileManager.default.fileExists(atPath: file.path) { return try read(from: directory) }
    let administrator = try CurveKeyPair.generate()
    let new = RelayKeys(
      keys: try .generate(), administrator: administrator.publicKey,
      channelSecret: (0..<ChannelCipher.keyBytes).map { _ in .random(in: .min ... .max) })
    let credential = AdministratorCredential(
      keys: administrator, relayKey: new.keys.publicKey,
      requests: requests ?? Self.requests(in: directory),
      broadcasts: broadcasts ?? Self.broadcasts(in: directory))
    // The relay's file comes last: where it is, all are there.
    try credential.write(to: AdministratorCredential.file(in: directory))
    let content = File(
      secretKey: new.keys.secretZ85, administratorKey: administrator.publicKey.z85,
      channelSecret: Data(new.channelSecret))
    try PrivateFile.write(try PrivateFile.encoder.encode(content), to: file)
    return new
  }

  /// Reads the secrets.
  public static func read(from directory: URL) throws -> RelayKeys {
    let file = file(in: directory)
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw PrivateFile.Failure(
        description:
          "There is no relay in \(directory.path): relayctl init --directory \(directory.path)")
    }
    let data = try PrivateFile.read(file)
    guard let content = try? JSONDecoder().decode(File.self, from: data), content.version == 1,
      let keys = CurveKeyPair(secretZ85: content.secretKey),
      let administrator = CurvePublicKey(z85: content.administratorKey),
      content.channelSecret.count == ChannelCipher.keyBytes
    else { throw PrivateFile.Failure(description: "\(file.path) is not a relay's key file.") }
    return RelayKeys(
      keys: keys, administrator: administrator, channelSecret: [UInt8](content.channelSecret))
  }

  /// The endpoint for requests in the folder.
  public static func requests(in directory: URL) -> String {
    "ipc://\(directory.appendingPathComponent("requests.ipc").path)"
  }

  /// The endpoint for broadcasts in the folder.
  public static func broadcasts(in directory: URL) -> String {
    "ipc://\(directory.appendingPathComponent("broadcasts.ipc").path)"
  }
}
