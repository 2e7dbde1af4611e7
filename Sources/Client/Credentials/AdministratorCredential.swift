public import Foundation
public import ZeroMQ

/// The administrator's keys with the relay's endpoints and key. The administrator creates families.
public struct AdministratorCredential: Sendable {
  /// The administrator's CURVE keys.
  public var keys: CurveKeyPair
  /// The relay's CURVE key.
  public var relayKey: CurvePublicKey
  /// The relay's endpoint for requests.
  public var requests: String
  /// The relay's endpoint for broadcasts.
  public var broadcasts: String

  /// Creates a credential in memory. ``write(to:)`` stores it.
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

  /// The credential's file in the relay's folder.
  public static func file(in directory: URL) -> URL {
    directory.appendingPathComponent("administrator.json")
  }

  /// Reads a credential file.
  ///
  /// - Throws: `PrivateFile.Failure` if the file is missing, invalid, or readable by others.
  public static func read(from file: URL) throws -> AdministratorCredential {
    let data = try PrivateFile.read(file)
    guard let content = try? JSONDecoder().decode(File.self, from: data), content.version == 1,
      let keys = CurveKeyPair(secretZ85: content.secretKey),
      keys.publicKey.z85 == content.publicKey, let relayKey = CurvePublicKey(z85: content.relayKey)
    else {
      throw PrivateFile.Failure(
        description:
          "\(file.path) is not an administrator's credential of this version. Run `relayctl init`"
          + " for a new folder.")
    }
    return AdministratorCredential(
      keys: keys, relayKey: relayKey, requests: content.requests, broadcasts: content.broadcasts)
  }

  /// Writes the credential file with mode 0600.
  public func write(to file: URL) throws {
    let content = File(
      publicKey: keys.publicKey.z85, secretKey: keys.secretZ85, relayKey: relayKey.z85,
      requests: requests, broadcasts: broadcasts)
    try PrivateFile.write(try PrivateFile.encoder.encode(content), to: file)
  }
}
