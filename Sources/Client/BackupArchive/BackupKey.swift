import Crypto
public import Foundation
import PrivateFiles

/// The key pair of an operator's backups. The relay's machine needs the public key only, so a thief of
/// the machine reads no backup.
public struct BackupKey: Sendable {
  let privateKey: Curve25519.KeyAgreement.PrivateKey

  private struct File: Codable {
    var version = 1
    var privateKey: Data
  }

  /// A new key pair.
  public init() { privateKey = Curve25519.KeyAgreement.PrivateKey() }

  /// Reads the key pair from its file.
  ///
  /// - Throws: `PrivateFile.Failure` if the file is missing, invalid, or readable by others.
  public init(file: URL) throws {
    let content = try JSONDecoder().decode(File.self, from: try PrivateFile.read(file))
    privateKey = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: content.privateKey)
  }

  /// Writes the key pair to a new file with mode 0600.
  public func write(to file: URL) throws {
    let content = File(privateKey: privateKey.rawRepresentation)
    try PrivateFile.write(try PrivateFile.encoder.encode(content), to: file)
  }

  /// The public key as text, for the command that makes backups.
  public var publicText: String { privateKey.publicKey.rawRepresentation.base64EncodedString() }
}
