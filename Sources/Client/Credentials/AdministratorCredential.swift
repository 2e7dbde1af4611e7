public import Foundation
public import ZeroMQ

/// What makes families at a relay: the administrator's keys, and the relay's address and key.
public struct AdministratorCredential: Sendable {
  /// The administrator's keys.
  public var keys: CurveKeyPair
  /// The relay's key.
  public var relayKey: CurvePublicKey
  /// Where requests go.
  public var requests: String
  /// Where devices hear broadcasts.
  public var broadcasts: String

  /// A credential of these parts.
  public init(
    keys: CurveKeyPair, relayKey: CurvePublicKey, requests: String, broadcasts: String
  ) {
    self.keys = keys
    self.relayKey = relayKey
    self.requests = requests
    self.broadcasts = broadcasts
  }

  private struct File: Codable {
    var version = 1
    var publicKey: String
    var secretKey: String
    var relayKey: String
    var requests: String
    var broadcasts: String
  }

  /// The file in the relay's folder.
  public static func file(in directory: URL) -> URL {
    directory.appendingPathComponent("administrator.json")
  }

  /// Reads the credential, which only its owner may read.
  ///
  /// - Throws: `PrivateFile.Failure` with what to do.
  public static func read(from file: URL) throws -> AdministratorCredential {
    let data = try PrivateFile.read(file)
    guard let content = try? JSONDecoder().decode(File.self, from: data), content.version == 1,
      let keys = CurveKeyPair(secretZ85: content.secretKey),
      keys.publicKey.z85 == content.publicKey, let relayKey = CurvePublicKey(z85: content.relayKey)
    else {
      throw PrivateFile.Failure(
        description: "\(file.path) is no administrator's credential: `relayctl init` writes it.")
    }
    return AdministratorCredential(
      keys: keys, relayKey: relayKey, requests: content.requests, broadcasts: content.broadcasts)
  }

  /// Writes the credential with mode 0600.
  public func write(to file: URL) throws {
    let content = File(
      publicKey: keys.publicKey.z85, secretKey: keys.secretZ85, relayKey: relayKey.z85,
      requests: requests, broadcasts: broadcasts)
    try PrivateFile.write(try PrivateFile.encoder.encode(content), to: file)
  }
}
